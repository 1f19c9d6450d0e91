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

{{- /* A size such as 64Gi in MiB. */ -}}
{{- define "holdfast.mebibytes" -}}
{{- $number := regexFind "^[0-9]+" . | int64 -}}
{{- if hasSuffix "Ti" . }}{{ mul $number 1048576 }}{{ else if hasSuffix "Gi" . }}{{ mul $number 1024 }}{{ else }}{{ $number }}{{ end }}
{{- end }}

{{- define "holdfast.memory" -}}
{{- $capacity := include "holdfast.mebibytes" .Values.settings.capacity | int64 -}}
{{- $overhead := include "holdfast.mebibytes" .Values.overhead | int64 -}}
{{- /* The kernel's page tables of what is resident take 1/512 of it, counted as the pod's. */ -}}
{{- add $capacity (div $capacity 256) $overhead }}Mi
{{- end }}

{{- /* What Holdfast itself keeps to: a quarter of the overhead is the virtual machine's. */ -}}
{{- define "holdfast.ceiling" -}}
{{- $overhead := include "holdfast.mebibytes" .Values.overhead | int64 -}}
{{- add (include "holdfast.mebibytes" .Values.settings.capacity | int64) (div (mul $overhead 3) 4) }}
{{- end }}
