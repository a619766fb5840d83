// Our requests took the seed's next free numbers (0x06, 0x07); they moved to 0x40, and sessions from before still answer.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { FRAMES } from '../../src/wire/frames.ts'
import { hm } from '../hm/hm.ts'
import { startProgram, waitForDeath } from '../support/programs.ts'
import { until, waitForSocket } from '../support/wait.ts'
import { start } from '../supervisor/support/session.ts'

/** `dist/session.cjs` as it was built before the move. In the project, because it looks for its packages from where it is. */
function earlierSession(): string {
  const folder = resolve('.build/earlier')
  mkdirSync(folder, { recursive: true })
  const path = join(folder, 'session.cjs')
  writeFileSync(path, gunzipSync(readFileSync('test/vectors/session-with-early-tags.cjs.gz')))
  return path
}

test('a session that was started before the upgrade answers the commands after it', async () => {
  const home = hm()
  mkdirSync(home.dir, { recursive: true, mode: 0o700 })
  const options = { id: 'old', socketDir: home.dir, cwd: '/', command: ['sleep', '1000'] }
  const supervisor = startProgram([process.execPath, earlierSession(), 'old'], {
    env: { ...home.env, HEIMDALL_SUPERVISOR: 'old' },
    stdin: JSON.stringify(options),
  })
  await waitForSocket(home.socket('old'))
  expect(readFileSync(join(home.dir, 'old.pid'), 'utf8')).not.toContain('protocol')

  expect(await home.json(['status', 'old'])).toMatchObject({
    command: ['sleep', '1000'],
    needs_input: { value: false },
  })
  expect(await home.run(['report', 'old', '--needs-input', 'from a hook'])).toMatchObject({ code: 0 })
  expect(await home.json(['ls'])).toMatchObject({
    sessions: [{ id: 'old', needs_input: { value: true, source: 'hook', evidence: 'from a hook' } }],
  })
  expect(await home.json(['send', 'old', 'text'])).toMatchObject({ written_bytes: 4 })
  // It knows of no viewers, and would send nobody away without a word.
  for (const words of [
    ['detach', 'old'],
    ['rename', 'old', 'new'],
  ])
    expect((await home.run(words)).stderr).toContain('was started by a version that cannot do this')
  const attached = home.start(['attach', '-d', '--inline', 'old'])
  await until('a word about the others', () => attached.stderr().includes('other viewers stay'))
  attached.kill('SIGTERM')
  expect(await home.json(['kill', 'old', '--wait'])).toMatchObject({ ended: true, exit_code: 143 })
  await waitForDeath(supervisor.pid)
})

test('seed 001: the numbers behind 0x05 are the seed’s, and unknown to a session', async () => {
  const added = Object.values(FRAMES).filter((frame) => frame.sender === 'client' && 'added' in frame)
  expect(added.every(({ tag }) => tag >= 0x40)).toBe(true)
  const session = await start(['sleep', '1000'])
  const script = `
import socket, sys
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.settimeout(30)
assert s.recv(1) == b'\\0'
for tag in range(0x06, 0x40): s.sendall(bytes([tag, 0, 0, 0, 2]) + b'{}')
s.sendall(bytes([3, 0, 0, 0, 0]))
print(s.recv(64)[0])`
  expect(execFileSync('python3', ['-c', script, session.socket], { encoding: 'utf8' }).trim()).toBe(String(0x82))
})
