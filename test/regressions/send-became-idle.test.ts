// `send --wait-for idle` came back from the midst of a turn: a new title was told of before the work was noticed.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hm } from '../hm/hm.ts'
import { until } from '../support/wait.ts'

test('a turn that begins with a title is waited for to its end', async () => {
  const home = hm()
  const over = join(home.home, 'over')
  const turn = `i=0; printf '\\033]0;working\\007'; until [ -e ${over} ]; do i=$((i+1)); printf '\\rframe %d ' $i; sleep 0.1; done; printf '\\r\\nturn over\\r\\n'`
  await home.session(
    'turn',
    ['sh', '-c', `read x; ${turn}; read y`],
    ['--classifier', 'claude', '--idle-threshold-ms', '1000'],
  )
  await home.run(['wait', 'turn', '--for', 'idle'])
  let hasReturned = false
  const sending = home.start(['send', 'turn', 'go', '--enter', '--wait-for', 'idle', '--json'])
  void sending.ended.then(() => {
    hasReturned = true
  })
  await until('the turn to be under way', async () => (await home.run(['logs', 'turn'])).stdout.includes('frame 20'))
  expect(hasReturned).toBe(false)
  writeFileSync(over, '')
  const { code, stdout } = await sending.ended
  expect({ code, data: JSON.parse(stdout).data }).toMatchObject({ code: 0, data: { state: 'idle' } })
  expect((await home.run(['logs', 'turn'])).stdout).toContain('turn over')
})
