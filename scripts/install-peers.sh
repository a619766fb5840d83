#!/bin/sh
# Installs the programs that bench/supervisor.ts measures against, from Debian's packages. Needs root.
set -eu
apt-get update -qq
apt-get install -y -qq --no-install-recommends tmux dtach
