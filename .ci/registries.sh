# How scripts beside this one ask registries of packages, which they read by `.`. Clients
# are tried three times. Functions return 75 when a registry does not answer, and 1 when
# it answers and lacks a package.

say() { echo "$(basename "$0"): $*" >&2; }

# What clients print of a registry that does not answer.
silence='timed? ?out|Temporary failure|Could not (resolve|connect)|Unable to connect'
silence+='|Connection (failed|refused|reset|aborted)|unreachable|NewConnectionError'
silence+='|ProtocolError|ENOTFOUND|ECONN|ETIMEDOUT|EAI_AGAIN|[^0-9]50[234][^0-9]'

# fetch COMMAND...: runs a client.
fetch() {
  local attempt log
  log=$(mktemp)
  for attempt in 1 2 3; do
    if "$@" >"$log" 2>&1; then
      rm "$log"
      return 0
    fi
    say "attempt $attempt of 3 failed: $*"
    [ "$attempt" = 3 ] || sleep $((attempt * ${ANEC_RETRY_SECONDS:-5}))
  done
  cat "$log" >&2
  attempt=1
  if grep -qE "$silence" "$log"; then
    say "no answer"
    attempt=75
  fi
  rm "$log"
  return "$attempt"
}

# install_packages PACKAGE...: installs those of Debian that are missing, as root or
# through sudo.
install_packages() {
  local package missing=() as_root=(env DEBIAN_FRONTEND=noninteractive) updated=0 code=0
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null |
      grep -q 'install ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  say "installing ${missing[*]}"
  [ "$(id -u)" = 0 ] || as_root=(sudo "${as_root[@]}")
  fetch "${as_root[@]}" apt-get update -qq --error-on=any || updated=$?
  fetch "${as_root[@]}" apt-get install -y -qq --no-install-recommends \
    -o DPkg::Lock::Timeout=120 "${missing[@]}" || code=$?
  # Without the registry's list, any package seems to be missing.
  [ "$code" = 0 ] || [ "$updated" = 0 ] || code=$updated
  return "$code"
}
