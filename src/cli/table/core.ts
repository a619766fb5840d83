// Commands of the house itself: help, version, configuration, health, completion, hashes.
import { type Command, spec } from '../command.ts'

export const help = spec({
  names: ['heimdall help'],
  summary: 'Help on a command or a topic',
  args: [
    { name: 'topic', help: 'words of a command, or exit-codes, environment, errors', optional: true, variadic: true },
  ],
  examples: [
    { run: 'heimdall help', does: 'lists all commands' },
    { run: 'heimdall help config list', does: 'shows one command' },
    { run: 'heimdall help exit-codes', does: 'says what each exit code means' },
  ],
  output: { topic: 'what was asked for', text: 'the page' },
})

export const version = spec({
  names: ['heimdall version'],
  summary: 'The version of Heimdall and of what it runs on',
  examples: [{ run: 'heimdall version', does: 'prints the version, and the versions of Node.js and the platform' }],
  output: {
    version: 'version of this package',
    node: 'version of Node.js',
    platform: 'operating system and processor',
  },
})

export const configList = spec({
  names: ['heimdall config list'],
  summary: 'Every setting with its value',
  flags: {
    'show-origin': {
      type: 'boolean',
      help: 'also say where each value comes from: flag, environment, file, repository or default',
    },
  },
  examples: [{ run: 'heimdall config list --show-origin', does: 'shows which file or variable set each value' }],
  errors: ['CONFIG_INVALID', 'CONFIG_UNREADABLE'],
  output: {
    settings: 'array of {key, value, origin, help}, with ignored: {value, origin, fix} where an untrusted file sets it',
  },
})

export const trust = spec({
  names: ['heimdall trust'],
  summary: 'Lets the settings file of a project count, exactly as it is now',
  about:
    'A project’s heimdall.toml comes with whatever was cloned. What in it could run code, send something elsewhere or hide an agent from you counts only after you have trusted its content: env, socket_dir, the session’s log, how much of its output is kept, what is ended with it, session_env_var, classifier. Linked worktrees share the trust; a changed byte undoes it. Only a person can trust, at a terminal that no session and no agent is above.',
  args: [{ name: 'file', help: 'the file; default ./heimdall.toml', optional: true }],
  flags: {
    list: { type: 'boolean', help: 'what was trusted, by whom and when, and whether it is still the same' },
    remove: { type: 'boolean', help: 'trust it no longer' },
  },
  examples: [
    { run: 'heimdall trust', does: 'trusts ./heimdall.toml and shows what counts from now on' },
    { run: 'heimdall trust --list', does: 'shows what was trusted' },
    { run: 'heimdall trust --remove', does: 'undoes it' },
  ],
  errors: ['PERSON_REQUIRED', 'CONFIG_INVALID', 'CONFIG_UNREADABLE', 'STORE_UNREADABLE', 'STORE_FULL', 'FOLDER_GONE'],
  output: {
    path: 'the file',
    sha256: 'hash of its content',
    by: 'who trusted it',
    terminal: 'where it was typed',
    at: 'when',
    settings: 'array of {key, value, needs_trust}',
    was_trusted: 'with --remove: whether there was anything to undo',
    trusted:
      'with --list: array of {path, sha256, by, terminal, at, state: trusted | changed | refused | unreadable | gone}',
  },
})

export const configGet = spec({
  names: ['heimdall config get'],
  summary: 'The value of one setting',
  args: [{ name: 'key', help: 'a key of heimdall.toml' }],
  examples: [{ run: 'heimdall config get scrollback_bytes', does: 'prints 65536 unless it was set' }],
  errors: ['CONFIG_INVALID', 'CONFIG_UNREADABLE'],
  output: { key: 'the key', value: 'its value', origin: 'where it comes from' },
})

export const configSet = spec({
  names: ['heimdall config set'],
  changes: true,
  summary: 'Change a setting that belongs to the repository',
  about:
    'Takes a person at a terminal. Only agent_stale_minutes belongs to the repository: it is stored with its first change, and a variable or a file can make a caller more patient than that, never less. Everything else is set in heimdall.toml.',
  args: [
    { name: 'key', help: 'agent_stale_minutes' },
    { name: 'value', help: 'its value' },
  ],
  examples: [
    {
      run: 'heimdall config set agent_stale_minutes 30',
      does: 'agents may be silent for half an hour in this repository',
    },
  ],
  errors: [
    'PERSON_REQUIRED',
    'INVALID_ARGS',
    'STORE_CORRUPT',
    'STORE_UNREADABLE',
    'STORE_FULL',
    'STORE_BUSY',
    'STORE_NEWER',
  ],
  output: { key: 'the key', value: 'its value', origin: 'repository' },
})

export const doctor = spec({
  names: ['heimdall doctor', 'sub doctor'],
  summary: 'Checks that what Heimdall needs is there and works',
  about:
    'Each line says what was checked, what was found, and the command that mends it. Exit code 1 when a check fails. Hooks ' +
    'of hosts count as working when they were called, not when a file says that they would be.',
  flags: {
    fix: { type: 'boolean', help: 'mend what takes nobody’s word and loses nothing: modes of folders, our own hooks' },
    security: { type: 'boolean', help: 'also who could read or change what is ours, and what passes no shim' },
  },
  examples: [
    { run: 'heimdall doctor', does: 'checks Node.js, native modules, folders, configuration, stores, git and hosts' },
    { run: 'heimdall doctor --fix', does: 'mends what can be mended, and looks again' },
    { run: 'heimdall doctor --security --json', does: 'everything, for a program' },
  ],
  output: { checks: 'array of {check, state: ok | warn | fail, found, fix, fixed: true when --fix has mended it}' },
})

export const completion = spec({
  names: ['heimdall completion'],
  summary: 'Completion script for a shell',
  args: [{ name: 'shell', help: 'bash, zsh or fish' }],
  examples: [
    { run: 'source <(heimdall completion bash)', does: 'completes all launchers in this shell' },
    { run: 'heimdall completion fish > ~/.config/fish/completions/heimdall.fish', does: 'installs it for fish' },
  ],
  output: { shell: 'the shell', script: 'the script' },
})

export const man = spec({
  names: ['heimdall man'],
  summary: 'The manual page in roff',
  examples: [{ run: 'heimdall man | man -l -', does: 'shows the manual page' }],
  output: { page: 'the page in roff' },
})

export const hash = spec({
  names: ['heimdall hash'],
  summary: 'Canonical SHA-256 of JSON on stdin',
  about:
    'Two texts of the same JSON value have the same hash, whatever their spacing and key order. Duplicate keys are refused.',
  flags: { canonical: { type: 'boolean', help: 'print the canonical JSON itself instead of its hash' } },
  examples: [
    {
      run: `echo '{"b":2,"a":1}' | heimdall hash`,
      does: 'prints 43258cff783fe7036d8a43033f830adfc60ec037382473548ac742b888292777',
    },
  ],
  errors: [
    'JSON_MALFORMED',
    'JSON_DUPLICATE_KEY',
    'JSON_LONE_SURROGATE',
    'JSON_NUMBER_RANGE',
    'JSON_TOO_DEEP',
    'JSON_TOO_LARGE',
  ],
  output: {
    hash: 'SHA-256 of the canonical bytes, lowercase hex',
    canonical: 'the canonical JSON text, with --canonical',
  },
})

export const coreCommands: readonly Command[] = [
  { spec: help, load: () => import('../commands/help.ts') },
  { spec: doctor, load: () => import('../commands/doctor.ts') },
  { spec: configList, load: () => import('../commands/config/list.ts') },
  { spec: configGet, load: () => import('../commands/config/get.ts') },
  { spec: configSet, load: () => import('../commands/config/set.ts') },
  { spec: trust, load: () => import('../commands/trust.ts') },
  { spec: completion, load: () => import('../commands/completion.ts') },
  { spec: man, load: () => import('../commands/man.ts') },
  { spec: hash, load: () => import('../commands/hash.ts') },
  { spec: version, load: () => import('../commands/version.ts') },
]
