// Builds dist/: the launchers' code as CommonJS (it starts faster than ESM on Node 20), the library doors as ESM.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'

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
  checks: { pluginTimings: false },
}

// Bundled packages keep their licences: collected while bundling, written beside the bundles.
const bundled = new Map()
const notePackages = {
  name: 'note-packages',
  moduleParsed({ id }) {
    const folder = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1]
    if (folder !== undefined) bundled.set(folder, JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')))
  },
}

function writeLicences() {
  const texts = [...bundled].map(([folder, { name, version: of, license }]) => {
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
    return `${name} ${of} (${license})\n\n${file === undefined ? '' : readFileSync(join(folder, file), 'utf8')}`
  })
  writeFileSync('dist/THIRD-PARTY-LICENSES.txt', [...new Set(texts)].sort().join(`\n${'-'.repeat(72)}\n\n`))
}

async function bundle(input, output) {
  const entries = Object.fromEntries(Object.entries(input).filter(([, path]) => existsSync(path)))
  if (Object.keys(entries).length === 0) return
  const build = await rolldown({ ...shared, input: entries, plugins: [notePackages] })
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
    test: /src\/cli\/(stdout|version|early-session|session-environment)\.ts$|src\/sessions\/launch\.ts$|src\/session-variables\.ts$|src\/wire\/launching\.ts$|src\/coordination\/variables\.ts$/,
  },
  {
    name: 'vocabulary',
    test: /src\/(errors|limits|ids|clock|paths|suggest|config|boot-id|ps-command)\.ts$|rolldown.runtime/,
  },
  // Not for a check of a clear path, nor for most commands.
  { name: 'processes', test: /src\/(processes|process-table|proc-source|ps-source|person)\.ts$/ },
  {
    name: 'frame',
    test: /src\/cli\/(command|main|manners|launchers|parse|stdin|render\/(style|colors|json))\.ts$/,
  },
  { name: 'storage', test: /src\/storage\/(?!sqlite)/ },
  // What starts a session, finds one, and settles a lost one.
  {
    name: 'sessions',
    test: /src\/sessions\/(command|hold-id|kept-output|listening|prepare|session-dir|session-files|settle|start)\.ts$|src\/(process-ending|interactive-shell|session-tree|session-folder|signals|supervisor-process)\.ts$|src\/wire\/(exit-record|handover|json-text|kept-output|pid-file|session-options|session-paths)\.ts$|src\/cli\/commands\/session\/(run|socket-dir)\.ts$/,
  },
  // What `claim check` loads when the path is clear, in one piece.
  {
    name: 'check',
    test: /src\/scopes\/|src\/coordination\/sqlite\/|src\/coordination\/(alive|check|conflicts|entry|haid|ledger-files|liveness|lookup|moment|room-options|view)\.ts$|src\/cli\/(quick-check|quick-guard|commands\/coordination\/check)\.ts$/,
  },
  {
    name: 'tables',
    test: /src\/cli\/quick-read\.ts$|src\/briefing\/(planning|rows|values|protocol-log|state-file|symbols|blackboard)\.ts$/,
  },
]

rmSync('dist', { recursive: true, force: true })
await bundle(
  {
    cli: 'src/cli/entry.ts',
    mcp: 'src/mcp/entry.ts',
    shim: 'src/shim/entry.ts',
  },
  {
    dir: 'dist',
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: 'chunks/[name]-[hash].cjs',
    codeSplitting: { groups },
  },
)
// One file each: a session's process is started for every session, and shares nothing with the commands at run time.
for (const [name, path] of [
  ['session', 'src/supervisor/entry.ts'],
  ['screen-worker', 'src/supervisor/screen/screen-worker.ts'],
])
  await bundle({ [name]: path }, { file: `dist/${name}.cjs`, format: 'cjs', codeSplitting: false })
await bundle(
  { client: 'src/client/index.ts', canonical: 'src/canonical/index.ts' },
  { dir: 'dist', format: 'esm', entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js' },
)
writeLicences()
if (process.argv.includes('--types'))
  execFileSync('node_modules/.bin/tsc', ['-p', 'tsconfig.types.json'], { stdio: 'inherit' })
