# shellcheck shell=sh
# Sourced by packaging/check: what it shows of Maven's output while tests run, and of their reports at the end.
# The sourcing script has set $root, the project's folder, and say.

# How often progress is told where the output is no terminal, in seconds.
progress_interval=30
# What is shown of each failure, from its beginning and from its end, and of how many; and at once, of a class that
# fails. The end has the cause, where the beginning has what was done.
failure_lines=8
failures_shown=20
told_lines=8

# Reads Maven's output, writes all of it to a file, and shows how far the tests have come: on a terminal in
# one line that is written again, else in a line now and then. A class that fails is told at once, with the
# first lines of what it failed with. Modules may be tested at the same time.
# usage: show_progress FILE COLUMNS; 0 COLUMNS: no terminal
show_progress() {
  columns=$2 began=$(date +%s) told=0 phase=building passed=0 failing=0 left=0
  while IFS= read -r line; do
    printf '%s\n' "$line" >&3
    tell_reason
    case $line in
      *"] Building Holdfast"*) tell_progress ;;
      *surefire*:test\ \(*) phase="tests without a mount" ;;
      *failsafe*:integration-test\ \(kernel*) phase="tests on real mounts, by the kernel's protocol" ;;
      *failsafe*:integration-test\ \(*) phase="tests on real mounts, by libfuse" ;;
      *"Tests run: "*", Failures: "*" in "*)
        count=${line#*Tests run: }
        count=${count%%,*}
        case $line in
          *"[ERROR]"*)
            failing=$((failing + 1))
            [ "$columns" = 0 ] || printf '\r\033[K'
            say "FAILED: ${line##* in } ($phase)"
            left=$told_lines
            ;;
        esac
        passed=$((passed + count))
        tell_progress
        ;;
    esac
  done 3>"$1"
  [ "$columns" = 0 ] || printf '\r\033[K'
}

# Says a line of what a class failed with, after that has been told; nothing of where it was.
tell_reason() {
  [ "$left" != 0 ] || return 0
  case $line in
    *"[INFO]"* | *"Tests run: "*) left=0 ;;
    '' | *'	at '*) ;;
    *)
      left=$((left - 1))
      [ "$columns" = 0 ] || printf '\r\033[K'
      printf '  | %.200s\n' "${line#"[ERROR] "}"
      ;;
  esac
}

tell_progress() {
  now=$(date +%s)
  if [ "$columns" = 0 ] && [ $((now - told)) -lt "$progress_interval" ]; then
    return
  fi
  told=$now
  minutes=$(((now - began) / 60)) seconds=$(((now - began) % 60))
  text=$(printf '%2d:%02d  %d tests, %d classes failed; %s' "$minutes" "$seconds" "$passed" "$failing" "$phase")
  if [ "$columns" = 0 ]; then
    say "$text"
  else
    printf '\r\033[K%.*s' "$((columns - 1))" "$text"
  fi
}

# The reports of test suites of one kind.
reports() {
  find "$root" -path "*/target/$1-reports/TEST-*.xml"
}

# Sum of attributes over all reports of test suites of one kind.
# usage: sum KIND ATTRIBUTE...
sum() {
  kind=$1
  shift
  for attribute in "$@"; do
    reports "$kind" | while IFS= read -r report; do
      sed -n "s/^<testsuite .* $attribute=\"\([0-9]*\)\".*/\1/p" "$report"
    done
  done | awk '{ n += $1 } END { print n + 0 }'
}

# The tests that failed, and with "details" the first lines of what each failed with.
# usage: failed_tests [details]
failed_tests() {
  { reports surefire; reports failsafe; } | sort | while IFS= read -r report; do
    awk -v details="${1-}" -v most="$failure_lines" '
      function attribute(name,    value) {
        if (!match($0, " " name "=\"[^\"]*\"")) return ""
        value = substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 4)
        return plain(value)
      }
      function plain(text) {
        gsub(/&#10;/, "\n", text)
        gsub(/&lt;/, "<", text)
        gsub(/&gt;/, ">", text)
        gsub(/&quot;/, "\"", text)
        gsub(/&apos;/, "\047", text)
        gsub(/&amp;/, "\\&", text)
        return text
      }
      function show(line) {
        # of a stack the place alone
        frame = line ~ /^[ \t]+(at |\.\.\. [0-9]+ more)/
        if (!frame || !inStack) lines[++shown] = substr(line, 1, 400)
        inStack = frame
      }
      function tell(    i) {
        for (i = 1; i <= shown; i++) {
          if (i <= most || i > shown - most) print "    " lines[i]
          else if (i == most + 1) print "    ..."
        }
      }
      /<testcase / {
        test = attribute("classname")
        if (attribute("name") != "") test = test "." attribute("name")
      }
      # What a test printed may look like anything.
      /<system-(out|err)>/ { printed = 1 }
      !printed && /^ *<(failure|error)[ >]/ {
        print (details == "" ? "  " : "") test
        shown = 0
        inside = 1
        if (/\/>$/) $0 = attribute("message") "</failure>"
        else sub(/^ *<(failure|error)[^>]*>(<!\[CDATA\[)?/, "")
      }
      inside {
        ends = match($0, /(\]\]>)?<\/(failure|error)>/)
        line = ends ? substr($0, 1, RSTART - 1) : $0
        if (line ~ /[^ \t]/) show(plain(line))
        if (ends) {
          if (details != "") {
            tell()
            print ""
          }
          inside = 0
        }
      }
      /<\/system-(out|err)>/ { printed = 0 }' "$report"
  done
}

# Says how it went, with what failed last. Succeeds if all did and nothing was skipped.
# usage: summarize LOG SECONDS BUILT; BUILT: empty if Maven failed
summarize() {
  unmounted=$(sum surefire tests)
  mounted=$(sum failsafe tests)
  # From the reports: a setting of Maven's, in the environment or at home, can make it ignore them.
  failed=$(($(sum surefire failures errors) + $(sum failsafe failures errors)))
  skipped=$(($(sum surefire skipped) + $(sum failsafe skipped)))
  if [ "$failed" != 0 ]; then
    say
    say "== What they failed with (the first and last $failure_lines lines of each, of $failures_shown at most)"
    failed_tests details | awk -v most="$failures_shown" '/^[^ ]/ && ++n > most { exit } { print }'
  elif [ -z "$3" ]; then
    say
    say "== The end of Maven's output"
    tail -n 60 -- "$1"
  fi
  say
  say "$((unmounted + mounted)) tests ran in $2 s:" \
    "$unmounted without a mount, $mounted on real mounts; $failed failed, $skipped skipped."
  say "All of Maven's output: $1"
  if [ "$failed" != 0 ]; then
    say "Failed:"
    failed_tests
  elif [ -z "$3" ]; then
    say "Failed: the build, see above"
  elif [ "$skipped" != 0 ]; then
    say "Failed: tests were skipped"
  elif [ "$mounted" = 0 ]; then
    say "Failed: no test ran on a real mount"
  else
    say "All passed."
    return
  fi
  return 1
}
