// Builds the dashboard into dist/dashboard. What was built from the same sources is taken again: most builds are of other rooms.
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { licences } from './licences.mjs'

const KEPT = '.build/dashboard'
const FONTS = ['@fontsource-variable/inter', '@fontsource-variable/jetbrains-mono']

function filesUnder(folder) {
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .sort()
}

function fingerprint() {
  const hash = createHash('sha256')
  for (const path of [...filesUnder('dashboard'), 'package-lock.json', 'scripts/build-dashboard.mjs'])
    hash.update(path).update(readFileSync(path))
  return hash.digest('hex').slice(0, 16)
}

export async function buildDashboard(into) {
  const kept = join(KEPT, fingerprint())
  if (!existsSync(kept)) {
    const { build } = await import('vite')
    const packages = licences()
    for (const font of FONTS) packages.note(join('node_modules', font))
    rmSync(KEPT, { recursive: true, force: true })
    mkdirSync(KEPT, { recursive: true })
    const own = `${kept}.${process.pid}`
    // Tests build too, and theirs is the same page as everybody's.
    const before = process.env.NODE_ENV
    process.env.NODE_ENV = 'production'
    await build({
      configFile: 'dashboard/vite.config.ts',
      logLevel: 'warn',
      plugins: [packages.plugin],
      build: { outDir: join(process.cwd(), own), emptyOutDir: true },
    })
    if (before === undefined) delete process.env.NODE_ENV
    else process.env.NODE_ENV = before
    for (const path of filesUnder(own).filter((name) => /\.(js|css|svg|html)$/.test(name)))
      writeFileSync(`${path}.br`, brotliCompressSync(readFileSync(path)))
    packages.write(join(own, 'THIRD-PARTY-LICENSES.txt'))
    if (!existsSync(kept)) renameSync(own, kept)
  }
  cpSync(kept, into, { recursive: true })
}
