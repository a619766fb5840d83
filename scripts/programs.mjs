// Bundles a folder of TypeScript programs (test fixtures, benches) that import our source, each to a runnable .mjs.
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { rolldown } from 'rolldown'

/** Returns the names of the programs, without extension. */
export async function bundlePrograms(from, to) {
  const names = readdirSync(from, { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => entry.name.slice(0, -3))
  rmSync(to, { recursive: true, force: true })
  if (names.length === 0) return names
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  const build = await rolldown({
    input: Object.fromEntries(names.map((name) => [name, `${from}/${name}.ts`])),
    platform: 'node',
    // As in build.mjs: what its `main` names requires its parts in a way that no bundler sees.
    resolve: { alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' } },
    external: /^(node:|@lydell|@photostructure|fs-native-extensions|gpt-tokenizer|playwright-core|rolldown)/,
    transform: { define: { __HEIMDALL_VERSION__: JSON.stringify(version) } },
    checks: { pluginTimings: false },
  })
  await build.write({
    dir: to,
    format: 'esm',
    entryFileNames: '[name].mjs',
    chunkFileNames: 'chunks/[name]-[hash].mjs',
  })
  await build.close()
  return names
}
