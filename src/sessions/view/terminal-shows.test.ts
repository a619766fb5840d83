// Which terminals are sent links and styled underlines.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../test/support/project.ts'
import { terminalShows } from './outer-abilities.ts'

const NOWHERE = { TERMINFO: '/nonexistent', HOME: '/nonexistent', TERMINFO_DIRS: '' }

test.each([
  [{ TERM: 'xterm-kitty' }, 'links underlines'],
  [{ TERM: 'xterm-ghostty' }, 'links underlines'],
  [{ TERM: 'foot' }, 'links underlines'],
  [{ TERM: 'xterm-256color', TERM_PROGRAM: 'iTerm.app' }, 'links underlines'],
  [{ TERM: 'xterm-256color', TERM_PROGRAM: 'vscode', COLORTERM: 'truecolor' }, 'links underlines'],
  [{ TERM: 'xterm-256color', VTE_VERSION: '7603', COLORTERM: 'truecolor' }, 'links underlines'],
  [{ TERM: 'xterm-256color', VTE_VERSION: '5002', COLORTERM: 'truecolor' }, 'links'],
  [{ TERM: 'xterm-256color', VTE_VERSION: '4600', COLORTERM: 'truecolor' }, ''],
  [{ TERM: 'no-such-terminal', COLORTERM: 'truecolor' }, 'links'],
  [{ TERM: 'no-such-terminal' }, ''],
  [{ TERM: 'linux' }, ''],
  [{ TERM: '../../etc/passwd' }, ''],
  [{}, ''],
])('%j: %s', (env, expected) => {
  const { links, underlines } = terminalShows({ ...NOWHERE, ...env }, false)
  expect([links ? 'links' : '', underlines ? 'underlines' : ''].join(' ').trim()).toBe(expected)
})

test('an entry of terminfo that names the extension, in either filing', () => {
  for (const shelf of ['m', '6d']) {
    const folder = temporaryFolder()
    mkdirSync(join(folder, shelf))
    writeFileSync(join(folder, shelf, 'mine'), Buffer.from('\x1e\x02mine\0\x1b[4:%p1%dm\0Smulx\0'))
    expect(terminalShows({ ...NOWHERE, TERM: 'mine', TERMINFO: folder }, false).underlines).toBe(true)
  }
})
