# shellcheck shell=sh
# Sourced by the commands in this folder: sets a fresh Debian or Ubuntu up, and builds.
# The sourcing script has set $here, this folder.

root=$(cd -- "$here/.." && pwd -P)
holdfast=$root/packaging/target/holdfast/bin/holdfast
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

say() { printf '%s\n' "$*"; }

die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# Calls a function of the script at its end, whatever of the function fails; then removes the log of 'quietly'. A signal
# ends the script as well: dash runs no trap of EXIT at a signal by itself. Further signals wait.
# usage: clean_up_at_end FUNCTION
clean_up_at_end() {
  # shellcheck disable=SC2064 # the function's name is known now
  trap "trap '' INT TERM HUP; $1 || :; rm -f -- \"\${log-}\"" EXIT
  trap 'interrupt 130' INT
  trap 'interrupt 143' TERM
  trap 'interrupt 129' HUP
}

interrupted=
interrupt() {
  interrupted=yes
  exit "$1"
}

# Until the script has something of its own to remove.
clean_up_at_end :

# Prints the comment at the head of the script, which says how it is used, and ends, where that is asked for.
help_if_asked() {
  case ${1-} in
    -h | --help) ;;
    *) return 0 ;;
  esac
  sed -n -e '1d' -e '/^#/!q' -e 's/^# \{0,1\}//p' -- "$0"
  exit 0
}

# Runs a command and shows what it printed only if it fails.
quietly() {
  # An interruption waits until the file's name is known to who removes it.
  log=$(trap '' INT TERM HUP && mktemp /tmp/holdfast-log.XXXXXX)
  if "$@" >"$log" 2>&1; then
    rm -f -- "$log"
    return
  fi
  tail -n 60 "$log" >&2
  rm -f -- "$log"
  return 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# The home of a JDK of version 17 or newer, or nothing. The distribution's 17 first: it is the one
# that the tests are run with elsewhere.
find_jdk() {
  for jdk in ${JAVA_HOME:+"$JAVA_HOME"} /usr/lib/jvm/*17* /usr/lib/jvm/* "$(javac_home)"; do
    [ -x "$jdk/bin/javac" ] || continue
    version=$("$jdk/bin/javac" -version 2>&1 | sed -n 's/^javac \([0-9]*\).*/\1/p')
    if [ "${version:-0}" -ge 17 ]; then
      printf '%s\n' "$jdk"
      return
    fi
  done
}

javac_home() {
  has javac || return 0
  javac=$(readlink -f -- "$(command -v javac)")
  printf '%s\n' "${javac%/bin/javac}"
}

# The packages that are missing here, of those that a build and root's mounts need; with "tests", also
# of those that tests and measurements need.
missing_packages() {
  [ -n "$(find_jdk)" ] || echo openjdk-17-jdk-headless
  has mvn || echo maven
  [ "${1-}" != tests ] || missing_test_packages
}

missing_test_packages() {
  # For mounts by libfuse, which users other than root need.
  ldconfig -p | grep -q 'libfuse\.so\.2 ' || echo libfuse2
  # fuse and fuse3 exclude each other: whichever is there will do.
  has fusermount || has fusermount3 || echo fuse3
  # For tests with several hosts, which are network namespaces.
  has ip || echo iproute2
  has nft || echo nftables
  # For nodes that find each other by a name.
  has dnsmasq || echo dnsmasq-base
  has mkfs.ext4 || echo e2fsprogs
  # For reads of large files that are verified.
  has fio || echo fio
  # For a program whose threads end apart.
  perl -Mthreads -e 1 2>/dev/null || echo perl
  # For attacks by several users, and other programs of tests.
  has python3 || echo python3
  # For completion in other shells than bash, which is there.
  has zsh || echo zsh
  has fish || echo fish
  # For what readers wait.
  has strace || echo strace
  # For a store that squashes root.
  has bindfs || echo bindfs
  # For clocks that jump.
  [ -n "$(find /usr/lib -path "*/faketime/libfaketime.so.1" 2>/dev/null | head -n 1)" ] ||
    echo libfaketime
  # Plots have text, which Java draws with these. Debian's Java brings them, others do not.
  ldconfig -p | grep -q 'libfontconfig\.so\.1 ' || echo fontconfig
  [ -n "$(find /usr/share/fonts -name '*.ttf' 2>/dev/null | head -n 1)" ] || echo fonts-dejavu-core
}

# Installs what is missing: what a build and root's mounts need, or what tests need too.
# usage: install_packages [tests]
install_packages() {
  packages=$(missing_packages "$@" | tr '\n' ' ')
  [ -n "$packages" ] || return 0
  has apt-get || die "missing, and no apt-get to install them with: $packages"
  [ "$(id -u)" = 0 ] || die "run as root once, or install: $packages"
  say "Installing ${packages% }..."
  quietly run_apt || die "could not install $packages"
  still=$(missing_packages "$@" | tr '\n' ' ')
  [ -z "$still" ] || die "still missing after the installation: $still"
}

run_apt() {
  export DEBIAN_FRONTEND=noninteractive
  # Slim images have no manual pages, and then Java's alternatives cannot be set.
  mkdir -p /usr/share/man/man1
  apt-get -q update || return
  # Ubuntu has renamed it.
  if ! apt-cache show libfuse2 2>/dev/null | grep -q '^Filename:'; then
    packages=$(printf '%s' "$packages" | sed 's/libfuse2/libfuse2t64/')
  fi
  # shellcheck disable=SC2086
  apt-get -q -y --no-install-recommends install $packages && return
  # In minimal systems Java's certificates may be configured too early, and once more is enough.
  dpkg --configure -a && apt-get -q -y --no-install-recommends -f install
}

# Installs Debian's PyTorch for /usr/bin/python3, and packages of it that are named.
# usage: install_torch [torchvision]
install_torch() {
  /usr/bin/python3 -c "import torch${1:+, $1}" 2>/dev/null && return
  packages="python3-torch${1:+ python3-$1}"
  say "Installing $packages..."
  quietly run_apt || die "could not install $packages"
}

require_fuse() {
  [ "$(id -u)" = 0 ] || die "must be run as root"
  [ -e /dev/fuse ] || { has modprobe && modprobe fuse 2>/dev/null; } || :
  [ -c /dev/fuse ] || die "no /dev/fuse: load the fuse module, or pass the device into this container"
}

# Runs Maven in the project.
maven() {
  JAVA_HOME=$(find_jdk)
  export JAVA_HOME
  (cd -- "$root" && mvn -B -ntp "$@")
}

# Builds the distribution unless it is newer than all that it is made of.
build() {
  built=$root/packaging/target/holdfast/lib/holdfast.jsa
  if [ -e "$built" ] && [ -z "$(find "$root/pom.xml" "$root"/*/pom.xml "$root"/fs/*/pom.xml \
    "$root"/*/src/main "$root"/fs/*/src/main -newer "$built")" ]; then
    return
  fi
  say "Building (the first time it downloads what it is built with)..."
  quietly maven -q -DskipTests package || die "the build failed"
}
