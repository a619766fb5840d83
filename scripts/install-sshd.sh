#!/bin/sh
# Installs an OpenSSH server for the tests of `hm --host` (npm run soak). It is not started: the tests start their own, on the loopback and with keys of their own.
set -eu
if command -v sshd >/dev/null || [ -x /usr/sbin/sshd ]; then
  echo "sshd is there already"
  exit 0
fi
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "run this as root on a Debian, or install openssh-server and openssh-client yourself" >&2
  exit 1
fi
apt-get update -qq
# Without this the package would start the system's own server.
printf '#!/bin/sh\nexit 101\n' > /usr/sbin/policy-rc.d
chmod 755 /usr/sbin/policy-rc.d
trap 'rm -f /usr/sbin/policy-rc.d' EXIT
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends openssh-server openssh-client
