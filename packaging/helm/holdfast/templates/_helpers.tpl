{{- define "holdfast.name" -}}
{{- printf "%s-%s" .Release.Name .Values.name | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "holdfast.labels" -}}
app.kubernetes.io/name: holdfast
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: {{ .Values.name }}
{{- end }}

{{- define "holdfast.secret" -}}
{{- .Values.peers.secretName | default (include "holdfast.name" .) }}
{{- end }}

{{- /* "yes" if the first of two paths is the second or lies in it. */ -}}
{{- define "holdfast.within" -}}
{{- $place := printf "%s/" (index . 1 | clean | trimSuffix "/") -}}
{{- if hasPrefix $place (printf "%s/" (index . 0 | clean | trimSuffix "/")) }}yes{{ end }}
{{- end }}

{{- /*
The directory of the node that a pod sees for its source; nothing for a source in S3. Mounts of the pod below that
directory do not leave the pod, so the mountpoint lies elsewhere.
*/ -}}
{{- define "holdfast.hostSource" -}}
{{- $source := .Values.settings.source -}}
{{- $host := .Values.hostSource -}}
{{- $mountpoint := .Values.mountpoint -}}
{{- if hasPrefix "/" $source -}}
{{- if not (and $host (include "holdfast.within" (list $source $host))) -}}
{{- fail (printf "hostSource=%s: settings.source=%s does not lie in it, and a pod sees nothing else of the node: give the directory of the node that has the source" $host $source) -}}
{{- end -}}
{{- if or (include "holdfast.within" (list $mountpoint $host)) (include "holdfast.within" (list $host $mountpoint)) -}}
{{- fail (printf "mountpoint=%s: hostSource=%s is the same, or one lies in the other, and nobody outside of the pod would see the mount: give another mountpoint" $mountpoint $host) -}}
{{- end -}}
{{- $host -}}
{{- end -}}
{{- end }}

{{- /* A size such as 64Gi in MiB. */ -}}
{{- define "holdfast.mebibytes" -}}
{{- $number := regexFind "^[0-9]+" . | int64 -}}
{{- if hasSuffix "Ti" . }}{{ mul $number 1048576 }}{{ else if hasSuffix "Gi" . }}{{ mul $number 1024 }}{{ else }}{{ $number }}{{ end }}
{{- end }}

{{- /* The capacity, and the kernel's page tables of it: they take 1/512, of which twice as much is counted. */ -}}
{{- define "holdfast.residents" -}}
{{- $capacity := include "holdfast.mebibytes" .Values.settings.capacity | int64 -}}
{{- add $capacity (div $capacity 256) -}}
{{- end }}

{{- /*
The container's memory. Holdfast admits files to the last byte of the capacity only if three reserves stay free
beside all that it takes. A reserve is 1/50 of the container's memory, from 32Mi to 4Gi, and 3/47 of all else is
3/50 of the sum.
*/ -}}
{{- define "holdfast.memory" -}}
{{- $overhead := include "holdfast.mebibytes" .Values.overhead | int64 -}}
{{- $taken := add (include "holdfast.residents" . | int64) $overhead -}}
{{- $free := div (add (mul $taken 3) 46) 47 | max 96 | min 12288 -}}
{{- add $taken $free }}Mi
{{- end }}

{{- /* What Holdfast itself keeps to: a quarter of the overhead is the virtual machine's. */ -}}
{{- define "holdfast.ceiling" -}}
{{- $overhead := include "holdfast.mebibytes" .Values.overhead | int64 -}}
{{- add (include "holdfast.residents" . | int64) (div (mul $overhead 3) 4) }}
{{- end }}

{{- /* The file of the mount. */ -}}
{{- define "holdfast.settings" -}}
mountpoint: {{ .Values.mountpoint | quote }}
{{- if .Values.peers.enabled }}
peers: {{ printf "dns:%s.%s.svc" (include "holdfast.name" .) .Release.Namespace | quote }}
cluster-secret-file: /etc/holdfast-secret/secret
{{- end }}
capacity: {{ include "holdfast.mebibytes" .Values.settings.capacity }}M
memory: {{ include "holdfast.ceiling" . }}M
{{ toYaml (omit .Values.settings "capacity") }}
{{- end }}
