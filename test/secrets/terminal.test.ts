// What a run keeps of its terminal: a secret that a shim of the run was given stands nowhere in it.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { fixture } from '../support/programs.ts'
import { spine } from '../spine/spine.ts'
import { until } from '../support/wait.ts'

const SECRET = 'ghp_Zx81LmQ0vTt4Hs77aa'
const PATH = `${resolve('bin')}:${process.env['PATH'] ?? ''}`

/** All that stands in the files below a folder. */
function filesBelow(folder: string): { readonly path: string; readonly text: string }[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path, text: readFileSync(path, 'latin1') }))
}

test('in the recording, what is kept of the screen, the sheet, the waits: covered, however it was shown', async () => {
  const project = spine()
  const store = join(project.root, 'store.json')
  writeFileSync(store, JSON.stringify({ token: { value: SECRET } }), { mode: 0o600 })
  project.write('bindings.json', JSON.stringify([{ inject_as: 'TOKEN', secret_ref: 'token', source: 'file' }]))
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'env', arguments: {} } }
  project.write('call.json', `${JSON.stringify(call)}\n`)
  project.write(
    'agent.sh',
    [
      // The server gives its secret away, and the agent shows what it was told.
      `heimdall mcp shim --server-name=fake --secret-bindings=bindings.json -- ${fixture('shim-upstream').join(' ')} < call.json`,
      's=$(sed -n \'s/.*"value":"\\([^"]*\\)".*/\\1/p\' store.json)',
      'printf "plain %s\\n" "$s"',
      'printf "coloured %s\\033[32m%s\\033[0m\\n" "${s:0:7}" "${s:7}"',
      'printf "base64 %s\\n" "$(printf %s "$s" | base64)"',
      'printf "%s" "${s:0:9}"; hm report --working; printf "%s\\n" "${s:9}"',
      'printf "\\033]0;busy with %s\\007" "$s"',
      'hm report --needs-input "may I use $s?"',
      // What may be the beginning of a secret waits to be recorded until more comes; no form of it has this sign.
      'echo "shown #"; read answer',
    ].join('\n'),
  )
  const env = { PATH, SUB_SECRETS_PATH: store }
  const started = await project.json(['run', '--agent', 'amber-otter', '--detach', '--', 'bash', 'agent.sh'], { env })
  const run = String(started['run_id'])
  const sheet = await until('the question', () => project.sheets().find(({ wait }) => wait !== null))
  expect(sheet['wait']['evidence']).toBe('may I use [REDACTED]************?')
  const runDir = join(project.home, '.local/state/heimdall/runs', run)
  const cast = await until('all to be recorded', () => {
    const text = readFileSync(join(runDir, 'terminal.cast'), 'utf8')
    return text.includes('shown #') ? text : undefined
  })
  await project.run('hm', ['kill', 'amber-otter', '--wait'])
  await until('the run to be closed', () => project.sheets().length === 0)
  const shown = cast
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => (JSON.parse(line) as [number, string, string])[2])
    .join('')
  expect(shown).toContain('plain [REDACTED]************\r\n')
  expect(shown).toContain('coloured [REDACT\x1b[32mED]************\x1b[0m\r\n')
  expect(shown).toMatch(/base64 \[REDACTED\]\*+..?=?=?\r\n/)
  expect(shown).toContain('"TOKEN\\":\\"[REDACTED]************\\"')
  const base64 = Buffer.from(SECRET).toString('base64').slice(0, 24)
  const files = filesBelow(join(project.home, '.local'))
  expect(files.map(({ path }) => path).filter((path) => path.endsWith('.kept'))).toHaveLength(1)
  for (const { path, text } of files)
    for (const letters of [SECRET, SECRET.slice(7), SECRET.slice(9), base64])
      expect(text.includes(letters) ? `${path} has ${letters}` : '').toBe('')
})

test('hm record covers what is in the store', async () => {
  const project = spine()
  const store = join(project.root, 'store.json')
  writeFileSync(store, JSON.stringify({ token: { value: SECRET } }), { mode: 0o600 })
  const env = { PATH, SUB_SECRETS_PATH: store }
  await project.run('hm', ['run', '--detach', '--id', 'talker', '--', 'bash', '-c', 'read s; echo "got $s#"; read x'])
  const cast = join(project.root, 'talker.cast')
  const recorder = project.run('hm', ['record', 'talker', cast], { env })
  await until('the recording', () => filesBelow(project.root).some(({ path }) => path === cast))
  await project.run('hm', ['send', 'talker', SECRET, '--enter'])
  await until('the echo', () => readFileSync(cast, 'utf8').includes('got ['))
  await project.run('hm', ['kill', 'talker', '--wait'])
  await recorder
  expect(readFileSync(cast, 'utf8')).toContain('got [REDACTED]************')
  expect(readFileSync(cast, 'utf8')).not.toContain(SECRET.slice(5))
  await project.run('hm', ['export', 'talker', join(project.root, 'out.cast')], { env })
  expect(readFileSync(join(project.root, 'out.cast'), 'utf8')).not.toContain(SECRET)
})

test('hm export writes the recording of the run, with its timing, and covers what is in the store', async () => {
  const project = spine()
  const store = join(project.root, 'store.json')
  writeFileSync(store, JSON.stringify({ token: { value: SECRET } }), { mode: 0o600 })
  const env = { PATH, SUB_SECRETS_PATH: store }
  const script = `printf 'é got ${SECRET.slice(0, 8)}'; until [ -e go ]; do sleep 0.02; done; sleep 0.3; echo '${SECRET.slice(8)}#'`
  project.write('agent.sh', script)
  const exported = async (): Promise<{ source: string; cast: string }> =>
    JSON.parse((await project.run('hm', ['export', 'talker', '--json'], { env })).stdout).data
  const running = project.run('heimdall', ['run', '--agent', 'talker', '--', 'bash', 'agent.sh'])
  // A busy machine may read the first part late: the pause begins once it is recorded.
  const runs = join(project.home, '.local/state/heimdall/runs')
  await until('the first part to be recorded', () =>
    existsSync(runs)
      ? readdirSync(runs).some((id) => {
          const path = join(runs, id, 'terminal.cast')
          return existsSync(path) && readFileSync(path, 'utf8').includes('é got')
        })
      : undefined,
  )
  project.write('go', '')
  await running
  await until('the run to be closed', () => project.sheets().length === 0)
  const { source, cast } = await exported()
  const events = cast
    .split('\n')
    .slice(1, -1)
    .map((line) => JSON.parse(line) as [number, string, string])
  expect(source).toBe('recording')
  expect(events.map(([, , text]) => text).join('')).toContain('é got [REDACTED]************#')
  expect(events.length).toBeGreaterThan(1)
  expect((events.at(-1)?.[0] ?? 0) - (events[0]?.[0] ?? 0)).toBeGreaterThan(0.2)

  // A later session of the same name, of no run: what was recorded before is not its own.
  await project.run('hm', ['run', '--id', 'talker', '--', 'echo', 'another'])
  const later = await exported()
  expect(later).toMatchObject({ source: 'scrollback', cast: expect.stringContaining('another') })
})
