// --inline draws what the program would draw without us, also when it has switched off output processing, and the
// terminal is left exactly as it was found, however it was set. tmux shows both.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hm } from '../hm/hm.ts'
import { launcher } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { openPane } from '../support/tmux.ts'
import { waitForFile } from '../support/wait.ts'

const SIZE = { cols: 40, rows: 8 }
const STAIRS = "stty -opost; printf 'one\\ntwo\\nthree\\033[2Dx\\n'; stty opost; echo done; sleep 1000"

test('a program without output processing is drawn the same with and without us', async () => {
  const home = hm()
  const plain = await openPane(['sh', '-c', STAIRS], SIZE)
  const ours = await openPane([...launcher('hm'), 'run', '--inline', '--', 'sh', '-c', STAIRS], {
    ...SIZE,
    env: { HOME: home.home },
  })
  await plain.see('done')
  await ours.see('done')
  expect(await ours.capture()).toEqual(await plain.capture())
  expect(await plain.capture()).toContain('   two')
  expect(await ours.cursor()).toEqual(await plain.cursor())
})

test.each([
  ['--inline', 'sane'],
  ['--inline', '-onlcr ixany -icrnl'],
  ['--inline', '-opost'],
  ['', '-onlcr ixany'],
])('run %s leaves a terminal that was set `stty %s` as it was', async (flag, settings) => {
  const home = hm()
  const folder = temporaryFolder()
  const hmRun = [...launcher('hm'), 'run', ...(flag === '' ? [] : [flag]), '--', 'true'].join(' ')
  const script = `stty ${settings}; stty -g > before; ${hmRun}; stty -g > after.part; mv after.part after; sleep 1000`
  await openPane(['sh', '-c', script], { ...SIZE, cwd: folder, env: { HOME: home.home } })
  expect(await waitForFile(join(folder, 'after'))).toBe(readFileSync(join(folder, 'before'), 'utf8'))
})
