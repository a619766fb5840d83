// Builds dist/: the launchers' code as CommonJS (it starts faster than ESM on Node 20), the library doors as ESM.
// With --if-changed only where dist/ is of other files: `npm ci` and `npm test` would build the same three times.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { rolldown } from 'rolldown'
import { buildDashboard } from './build-dashboard.mjs'
import * as built from './built.mjs'
import { licences } from './licences.mjs'

const types = process.argv.includes('--types')
const from = built.inputs()
if (process.argv.includes('--if-changed') && built.isBuilt(from, { types })) process.exit(0)

const { version, dependencies } = JSON.parse(readFileSync('package.json', 'utf8'))

// Native modules and the tokenizer's tables stay packages of their own; everything else is bundled, because
// reading one file is faster than resolving fifty.
const external = (id) =>
  id.startsWith('node:') || Object.keys(dependencies).some((name) => id === name || id.startsWith(`${name}/`))
const shared = {
  external,
  platform: 'node',
  // What its `main` names requires its parts in a way that no bundler sees.
  resolve: { alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' } },
  transform: { define: { __HEIMDALL_VERSION__: JSON.stringify(version) } },
  // A bound from `limits.ts` stands where it is used: exported, each of them costs every start a getter.
  optimization: { inlineConst: true },
  checks: { pluginTimings: false },
}

const packages = licences()

async function bundle(input, output) {
  const entries = Object.fromEntries(Object.entries(input).filter(([, path]) => existsSync(path)))
  if (Object.keys(entries).length === 0) return
  const build = await rolldown({ ...shared, input: entries, plugins: [packages.plugin] })
  await build.write({ minify: { mangle: false, compress: false, codegen: true }, ...output })
  await build.close()
}

// What is always loaded together is one file: finding, reading and compiling a file costs half a millisecond, and
// left to itself the bundler makes one of each module that two commands share. A group takes along what its modules
// import, so the common ones come first.
const groups = [
  // All that `--version` needs, and what gets a session's process going.
  {
    name: 'output',
    test: /src\/cli\/(stdout|version|early-session|session-environment)\.ts$|src\/spine\/run-environment\.ts$|src\/sessions\/launch\.ts$|src\/session-variables\.ts$|src\/wire\/launching\.ts$|src\/coordination\/who\/variables\.ts$/,
  },
  {
    name: 'vocabulary',
    test: /src\/(errors|limits|ids|clock|paths|suggest|config|config-values|notify-setting|boot-id|plain-object|ps-command|quoted)\.ts$|src\/hosts\/record-path\.ts$|rolldown.runtime/,
  },
  // Not for a check of a clear path, nor for most commands.
  { name: 'processes', test: /src\/(processes|process-table|proc-source|ps-source|person)\.ts$/ },
  {
    name: 'frame',
    test: /src\/cli\/(command|main|manners|launchers|parse|stdin|render\/(style|colors|json))\.ts$/,
  },
  // Without what needs node:crypto, which takes as long to load as all of these.
  { name: 'storage', test: /src\/storage\/(?!sqlite|side-file|made-once|seats)/ },
  // The rows of `run`, `status` and `next`.
  { name: 'spine-rows', test: /src\/cli\/table\/(spine|start-flags)\.ts$/ },
  // What finds a session by its files. Without what asks or starts one, which loads Node's networking.
  {
    name: 'session-files',
    test: /src\/sessions\/session-files\.ts$|src\/wire\/(exit-record|json-text|pid-file|session-paths)\.ts$|src\/session-folder\.ts$|src\/cli\/commands\/session\/socket-dir\.ts$/,
  },
  // The glance at a text that goes on record: every start takes it, and whatever writes events.
  { name: 'secret-hint', test: /src\/(events\/(secret-hint|issuers)|runs\/redacted)\.ts$/ },
  // What starts a session and settles a lost one.
  {
    name: 'sessions',
    test: /src\/sessions\/(command|hold-id|kept-output|listening|prepare|session-dir|settle|start)\.ts$|src\/(process-ending|interactive-shell|session-tree|signals|supervisor-process)\.ts$|src\/wire\/(handover|kept-output|session-options)\.ts$|src\/cli\/commands\/session\/run\.ts$/,
  },
  // Where somebody's words about themselves lie, and which process is meant: hooks and looks at the fleet alike.
  {
    name: 'whereabouts',
    test: /src\/coordination\/(trail|store-path|who\/(place|process-ref|haid|variables)|ledger\/ledger-files)\.ts$|src\/supervisor-process\.ts$/,
  },
  // What a host's hook loads, over and over, when there is nothing to say.
  {
    name: 'hook',
    test: /src\/cli\/quick-hook\.ts$|src\/hosts\/hooks\/(hook|patch|shell)-(?!.*test)|src\/spine\/hooks\/(answer-hook|hook-place|pass-slip)\.ts$/,
  },
  // What `claim check` loads when the path is clear, in one piece: the store as everybody reads it.
  {
    name: 'check',
    test: /src\/scopes\/|src\/coordination\/sqlite\/(?!member|apply|pending|signs|whole-state)|src\/coordination\/(\w+\/)?(alive|check|conflicts|entry|liveness|lookup|moment|room-options|view)\.ts$|src\/cli\/(quick-check|quick-guard|commands\/coordination\/check)\.ts$/,
  },
  // What a hook loads to look at the store.
  {
    name: 'hook-look',
    test: /src\/hosts\/hooks\/|src\/spine\/hooks\/quick-write\.ts$|src\/coordination\/claims\/writes\.ts$/,
  },
  // A name is made up before the rest of a start is loaded.
  { name: 'made-up-names', test: /src\/coordination\/who\/names\.ts$/ },
  // Which runs there are: whoever starts one, keeps one or looks at all.
  {
    name: 'open-runs',
    test: /src\/spine\/(kept-run|open-runs|session-name|signs|call-totals)\.ts$|src\/spine\/fleet\/(wait-kind|plain-words)\.ts$|src\/policy\/bundle\/no-policy\.ts$|src\/runs\/questions-path\.ts$|src\/coordination\/who\/outcome\.ts$/,
  },
  // What a look at the fleet takes, without what it finds nothing of most of the time.
  {
    name: 'fleet',
    test: /src\/cli\/(fleet-options|commands\/status)\.ts$|src\/spine\/fleet\/look\.ts$/,
  },
  { name: 'fleet-text', test: /src\/cli\/render\/(fleet-text|glyphs)\.ts$/ },
  // What `heimdall run` begins with, and what it loads while git looks.
  { name: 'run', test: /src\/spine\/worktree-state\.ts$|src\/cli\/commands\/(run|policy\/run-policy)\.ts$/ },
  // What looks closely for secrets, where a glance has found a sign of one.
  { name: 'redaction', test: /src\/events\/redact\.ts$/ },
  // What starts a run takes, and its keeper too.
  {
    name: 'opened-run',
    test: /src\/runs\/owned-run\.ts$|src\/coordination\/(coordination|change|who\/(enrol|kept|registration))\.ts$|src\/fleet\/door\.ts$|src\/id-source\.ts$/,
  },
  { name: 'start-run', test: /src\/spine\/start-run\.ts$/ },
  {
    name: 'tables',
    test: /src\/cli\/quick-read\.ts$|src\/briefing\/(planning|rows|values|protocol-log|state-file|symbols|blackboard)\.ts$/,
  },
]

/** What loads chunks stands in every entry: found by Node as a file of its own, it would cost what one chunk does. */
async function loaderText() {
  const build = await rolldown({ ...shared, input: 'src/chunk-loader.ts' })
  const { output } = await build.generate({ format: 'cjs', minify: { mangle: false, compress: false, codegen: true } })
  await build.close()
  return `(()=>{const exports={};${output[0].code};return exports.chunkLoader})()`
}

/** The chunks of the groups above: starts load them. */
const groupChunks = () =>
  readdirSync('dist/chunks').filter((file) =>
    [...groups, { name: 'rolldown-runtime' }].some(({ name }) => new RegExp(`^${name}-[\\w-]{8}\\.cjs$`).test(file)),
  )

/** One character past Latin-1 makes the engine keep the whole text with two bytes for each: twice the memory to fill at every start. In strings, templates and expressions the escape means the same. */
function writeAscii(path) {
  const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  writeFileSync(path, readFileSync(path, 'utf8').replace(/[^\x00-\x7f]/g, escaped))
}

built.forget()
rmSync('dist', { recursive: true, force: true })
const loader = await loaderText()
await bundle(
  {
    cli: 'src/cli/entry.ts',
    mcp: 'src/mcp/entry.ts',
    shim: 'src/shim/entry.ts',
    keeper: 'src/spine/entry.ts',
    task: 'src/dispatch/entry.ts',
    demo: 'src/demo/entry.ts',
  },
  {
    dir: 'dist',
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: 'chunks/[name]-[hash].cjs',
    codeSplitting: { groups },
    // The entries' own `require` is the parameter of the function that Node wraps them in.
    banner: ({ isEntry }) => (isEntry ? `require=${loader}(__dirname,require);` : ''),
  },
)
// One file each: a session's process is started for every session, and shares nothing with the commands at run time.
for (const [name, path] of [
  ['chunks/session-process', 'src/supervisor/entry.ts'],
  ['screen-worker', 'src/supervisor/screen/screen-worker.ts'],
])
  await bundle({ [name]: path }, { file: `dist/${name}.cjs`, format: 'cjs', codeSplitting: false })
writeFileSync('dist/session.cjs', `${loader}(__dirname,require)("./chunks/session-process.cjs");\n`)
const started = ['session-process.cjs', ...groupChunks()]
for (const name of started) writeAscii(`dist/chunks/${name}`)
execFileSync(process.execPath, ['scripts/bytecode.mjs', 'dist', ...started], { stdio: 'inherit' })
await bundle(
  { client: 'src/client/index.ts', canonical: 'src/canonical/index.ts' },
  { dir: 'dist', format: 'esm', entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js' },
)
packages.write('dist/THIRD-PARTY-LICENSES.txt')
await buildDashboard('dist/dashboard')
if (types)
  execFileSync(process.execPath, ['node_modules/typescript7/bin/tsc', '-p', 'tsconfig.types.json'], {
    stdio: 'inherit',
  })
built.note(from)
