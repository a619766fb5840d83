// Programs whose effects are known without a rule for their arguments: they write no file, or only what `writes.ts` finds.

/** They print, compare or change the shell itself. */
const READS: ReadonlySet<string> = new Set(
  `: [ [[ arch b2sum base64 basename bat bc bind break bg builtin cal case cat cd cksum cmp col column comm continue cut date
  declare df diff dir dircolors dirname dirs disown du echo egrep enable env exit expand export expr factor false fc fd
  fg fgrep file fmt fold free getconf getopts grep groups hash head help hexdump history host hostname iconv id jobs join
  jq kill less let local locale logname logout ls lsblk lscpu lsof man md5sum mktemp more nl nproc numfmt od paste
  pathchk pgrep pkill popd pr printenv printf ps pstree pushd pwd read readarray readlink readonly realpath return rev
  rg sed seq set sha1sum sha224sum sha256sum sha384sum sha512sum shift shopt sleep sort stat strings stty sum
  suspend sync tac tail test time times top tput tr trap tree true tsort tty type typeset ulimit umask unalias uname
  unexpand uniq unset uptime users vmstat w wait wc whatis whereis which who whoami xxd yes zcat zgrep`
    .split(/\s+/)
    .filter((name) => name !== ''),
)

/** Handled one by one in `writes.ts`. */
const HANDLED: ReadonlySet<string> = new Set(
  'apply_patch applypatch patch git heimdall sub find alias eval watch su runuser script sg'.split(' '),
)

export const isKnownProgram = (name: string): boolean => READS.has(name) || HANDLED.has(name)

/** Programs that connect to other machines; of some only with these words first. */
const NETWORK: Readonly<Record<string, readonly string[] | true>> = {
  ...Object.fromEntries(
    'curl wget http https httpie xh aria2c ssh scp sftp ftp lftp tftp telnet nc ncat netcat socat rsync ping dig nslookup host whois mail sendmail gh glab aws az gcloud gsutil kubectl helm terraform ansible rclone s3cmd heroku flyctl vercel netlify'
      .split(' ')
      .map((name) => [name, true] as const),
  ),
  git: ['push', 'fetch', 'pull', 'clone', 'ls-remote', 'submodule', 'send-email', 'archive'],
  npm: 'install i ci add update publish audit view search exec create init login ping outdated'.split(' '),
  pnpm: 'install i add update publish audit dlx create'.split(' '),
  yarn: 'install add upgrade publish dlx create'.split(' '),
  bun: 'install add update publish x create'.split(' '),
  npx: true,
  bunx: true,
  uvx: true,
  uv: ['pip', 'add', 'sync', 'tool', 'run'],
  pip: ['install', 'download', 'search'],
  pip3: ['install', 'download', 'search'],
  pipx: ['install', 'run'],
  poetry: ['install', 'add', 'update', 'publish'],
  cargo: ['install', 'add', 'update', 'fetch', 'publish', 'search'],
  go: ['get', 'install', 'mod'],
  gem: ['install', 'push', 'update'],
  bundle: ['install', 'update'],
  composer: ['install', 'require', 'update'],
  brew: ['install', 'update', 'upgrade', 'fetch', 'tap'],
  apt: ['install', 'update', 'upgrade'],
  'apt-get': ['install', 'update', 'upgrade', 'source', 'download'],
  apk: ['add', 'update'],
  dnf: ['install', 'update', 'upgrade'],
  yum: ['install', 'update', 'upgrade'],
  docker: ['pull', 'push', 'login', 'build', 'run'],
  podman: ['pull', 'push', 'login', 'build', 'run'],
}

/** `words`: the arguments that are not options. */
export function usesNetwork(name: string, words: readonly (string | null)[]): boolean {
  const verbs = Object.hasOwn(NETWORK, name) ? NETWORK[name] : undefined
  return verbs === true || (verbs !== undefined && words.some((word) => word !== null && verbs.includes(word)))
}
