// Whoever closed the window of `hm attach` or `hm run` got a core dump instead of an end: Node aborts on a terminal that is gone.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openPty } from '../../src/supervisor/pty.ts'
import { hm } from '../hm/hm.ts'
import { launcher } from '../support/programs.ts'
import { until } from '../support/wait.ts'

test.each([
  ['attach', 'attach s'],
  ['attach --inline', 'attach s --inline'],
  ['run', 'run --id other -- sh -c "echo ready; exec cat"'],
])('closing the terminal of %s is a way to leave, with 0', async (_, words) => {
  const home = hm()
  await home.session('s', ['sh', '-c', 'echo ready; exec cat'])
  const file = join(home.home, 'code')
  const room = Buffer.alloc(64 << 10)
  let seen = ''
  const pty = openPty(
    {
      // The shell outlives the terminal to tell how it ended.
      command: ['sh', '-c', `trap '' HUP; ${launcher('hm').join(' ')} ${words}; echo "code $?" > ${file}`],
      cwd: home.home,
      env: { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8', ...home.env },
      cols: 80,
      rows: 24,
    },
    {
      room: () => room,
      read(bytes) {
        seen += room.toString('utf8', 0, bytes)
      },
      ended() {},
    },
  )
  await until('the session to be seen', () => seen.includes('ready'))
  pty.close()
  await until('the end', () => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'))
  expect(readFileSync(file, 'utf8')).toBe('code 0\n')
  expect(await home.json(['status', 's'])).toMatchObject({ id: 's' })
})
