# shellcheck shell=sh
# Sourced by trials in a fresh Debian 12, in a directory: makes it, and runs a script with it as the root
# directory. The sourcing script has sourced lib.sh, and calls leave_tree when it is interrupted.

# Makes a fresh, minimal Debian 12 in a directory that is not there.
fresh_tree() {
  has debootstrap || quietly apt-get -q -y --no-install-recommends install debootstrap || die "no debootstrap"
  # shellcheck disable=SC2016
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1)
  quietly debootstrap --variant=minbase bookworm "$1" "$mirror" || die "no tree of Debian 12"
  [ -e "$1/dev/fuse" ] || mknod -m 666 "$1/dev/fuse" c 10 229
  cp /etc/resolv.conf "$1/etc/resolv.conf"
  cp /etc/hosts "$1/etc/hosts"
  for part in /etc/apt/apt.conf.d/*proxy*; do
    [ ! -e "$part" ] || cp "$part" "$1/etc/apt/apt.conf.d/"
  done
}

# Runs a shell's script in a tree; all that it mounts and starts ends with its namespaces.
# usage: in_tree TREE SECONDS SCRIPT [ARGUMENT...]
in_tree() {
  # In the background, since a shell hears of signals only while it waits.
  # shellcheck disable=SC2016
  timeout -s KILL "$2" unshare --mount --pid --fork --kill-child sh -euc '
    mount -t proc proc "$1/proc"
    mount -t sysfs sysfs "$1/sys"
    mount -t tmpfs tmpfs "$1/run"
    cd "$1"
    shift 2
    exec chroot . sh -euc "$@"' sh "$@" &
  in_tree=$!
  in_tree_code=0
  wait "$in_tree" || in_tree_code=$?
  in_tree=
  return "$in_tree_code"
}

# Ends what runs in a tree, if anything does.
leave_tree() {
  [ -n "${in_tree-}" ] && [ -e "/proc/$in_tree/task/$in_tree/children" ] || return 0
  # What is killed is unshare, and all in its namespaces with it.
  # shellcheck disable=SC2046
  kill -s KILL -- $(cat "/proc/$in_tree/task/$in_tree/children") 2>/dev/null || :
  wait "$in_tree" || :
} 2>/dev/null
