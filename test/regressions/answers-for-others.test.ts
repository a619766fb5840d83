// From inside its session an agent told lies about what another one waited for, and answered the question that the other,
// or it itself, had put to a person.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Hm, hm } from '../hm/hm.ts'
import { launcher } from '../support/programs.ts'
import { waitForFile } from '../support/wait.ts'

/** Runs commands of `hm` in a session of their own, and says the exit code of each. */
async function inside(home: Hm, id: string, lines: readonly string[]): Promise<string[]> {
  const out = join(home.home, `${id}.out`)
  const own = launcher('hm').join(' ')
  const script = lines.map((line) => `${own} ${line} >/dev/null 2>&1; echo "${line}: $?" >> ${out}.part`)
  await home.session(id, ['sh', '-c', [...script, `mv ${out}.part ${out}`, 'cat'].join('\n')])
  await waitForFile(out)
  return readFileSync(out, 'utf8').trim().split('\n')
}

const waits = async (home: Hm, id: string): Promise<unknown> =>
  ((await home.json(['status', id]))['needs_input'] as { value: unknown }).value

test('an agent neither says what another waits for, nor answers it', async () => {
  const home = hm()
  await home.session('vic', ['cat'])
  await home.run(['report', 'vic', '--needs-input', 'Allow?'])
  expect(await inside(home, 'att', ['report vic --working', 'send vic yes --enter', 'attach vic'])).toEqual([
    'report vic --working: 4',
    'send vic yes --enter: 4',
    'attach vic: 4',
  ])
  expect(await waits(home, 'vic')).toBe(true)
})

test('nor does it answer its own question; of itself it may speak, and to one that does not wait', async () => {
  const home = hm()
  await home.session('vic', ['cat'])
  const found = await inside(home, 'att', [
    'send vic hello --enter',
    'report --needs-input Allow?',
    'send att yes --enter',
    'report att --working',
  ])
  expect(found).toEqual([
    'send vic hello --enter: 0',
    'report --needs-input Allow?: 0',
    'send att yes --enter: 4',
    'report att --working: 0',
  ])
})
