// Runs every `check:…` script of package.json side by side and prints the output of each when it ends.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
const names = Object.keys(scripts).filter((name) => name.startsWith('check:'))
const failed = (await Promise.all(names.map(run))).filter((name) => name !== undefined)
if (failed.length > 0) {
  console.error(`failed: ${failed.join(', ')}`)
  process.exitCode = 1
}

/** The name of the script if it failed. `npm run` has put `node_modules/.bin` on the PATH. */
async function run(name) {
  const startedAt = performance.now()
  const child = spawn(scripts[name], { shell: true, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
    })
  const code = await new Promise((end) => child.once('close', end))
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
  console.log(
    `${code === 0 ? 'passed' : 'FAILED'} ${name} (${seconds} s)${output === '' ? '' : `\n${output.trimEnd()}`}`,
  )
  return code === 0 ? undefined : name
}
