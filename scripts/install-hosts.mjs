// Brings the hosts that `npm run test:hosts` runs from the npm registry into `.hosts/`: `npm run hosts:install [-- claude codex gemini]`.
// Nothing of them is run while it is installed, and nothing of them is part of this package; each has its own licence.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '..')
const FOLDER = join(ROOT, '.hosts')
const HOSTS = JSON.parse(readFileSync(join(import.meta.dirname, 'hosts.json'), 'utf8'))

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => HOSTS[name] === undefined)
if (unknown.length > 0) throw new Error(`hosts are ${Object.keys(HOSTS).join(', ')}; there is no ${unknown.join(', ')}`)

function versionHere(name) {
  const file = join(FOLDER, 'node_modules', HOSTS[name].package, 'package.json')
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : undefined
}

const wanted = (asked.length === 0 ? Object.keys(HOSTS) : asked).filter(
  (name) => versionHere(name) !== HOSTS[name].version,
)
mkdirSync(FOLDER, { recursive: true })
// A manifest of its own, so that npm does not go looking for ours.
if (!existsSync(join(FOLDER, 'package.json'))) writeFileSync(join(FOLDER, 'package.json'), '{ "private": true }\n')
if (wanted.length > 0)
  execFileSync(
    'npm',
    [
      'install',
      '--prefix',
      FOLDER,
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      ...wanted.map((name) => `${HOSTS[name].package}@${HOSTS[name].version}`),
    ],
    { stdio: 'inherit' },
  )
for (const [name, { title, version }] of Object.entries(HOSTS)) {
  const here = versionHere(name)
  console.log(
    `${title}: ${here === undefined ? 'not installed' : `${here} in .hosts/`}${here === version ? '' : ` (tests are for ${version})`}`,
  )
}
