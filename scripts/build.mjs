// Builds dist/: the launchers' code as CommonJS (it starts faster than ESM on Node 20), the library doors as ESM.
// With --if-changed only where dist/ is of other files: `npm ci` and `npm test` would build the same three times.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
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

built.forget()
rmSync('dist', { recursive: true, force: true })
await bundle(
  {
    cli: 'src/cli/entry.ts',
    mcp: 'src/mcp/entry.ts',
    shim: 'src/shim/entry.ts',
    watcher: 'src/spine/watcher-entry.ts',
    task: 'src/dispatch/entry.ts',
    demo: 'src/demo/entry.ts',
  },
  {
    dir: 'dist',
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: 'chunks/[name]-[hash].cjs',
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
packages.write('dist/THIRD-PARTY-LICENSES.txt')
await buildDashboard('dist/dashboard')
if (types)
  execFileSync(process.execPath, ['node_modules/typescript7/bin/tsc', '-p', 'tsconfig.types.json'], {
    stdio: 'inherit',
  })
built.note(from)
