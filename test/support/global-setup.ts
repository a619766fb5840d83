// Before the integration tests: build the launchers they run, and the fixture programs that import our source.
import { execFileSync } from 'node:child_process'
import { readdirSync, rmSync } from 'node:fs'
import { rolldown } from 'rolldown'

export async function setup(): Promise<void> {
  execFileSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' })
  const programs = readdirSync('test/fixtures').filter((name) => name.endsWith('.ts'))
  rmSync('.build', { recursive: true, force: true })
  if (programs.length === 0) return
  const build = await rolldown({
    input: Object.fromEntries(programs.map((name) => [name.slice(0, -3), `test/fixtures/${name}`])),
    platform: 'node',
    external: /^(node:|@lydell|@photostructure|fs-native-extensions|gpt-tokenizer)/,
    checks: { pluginTimings: false },
  })
  await build.write({
    dir: '.build/fixtures',
    format: 'esm',
    entryFileNames: '[name].mjs',
    chunkFileNames: 'chunks/[name]-[hash].mjs',
  })
  await build.close()
}
