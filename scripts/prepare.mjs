// `prepare`: builds dist/. `npm install -g .` in a fresh clone links the clone and installs no development
// dependencies, so the build installs them first.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const canBuild = () => existsSync('node_modules/rolldown')

// `npm ci --omit=dev` in a clone that is built keeps its build.
if (!canBuild() && existsSync('dist/cli.cjs')) process.exit(0)

if (!canBuild()) {
  // The flags of the calling npm (--global, --prefix, --omit) arrive as variables and must not apply here.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^npm_config_(global|location|prefix|local_prefix|omit|only|production)$/i.test(name),
    ),
  )
  execFileSync('npm', ['ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund'], { env, stdio: 'inherit' })
}

await import('./build.mjs')
