// A file of events beside the policy changed with every call, and each change put off the look at the policy once more.
import { appendFileSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { watchPolicy } from '../../src/shim/policy-source.ts'
import { POLICY_SETTLE_MS } from '../../src/limits.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { temporaryFolder } from '../support/project.ts'
import { until } from '../support/wait.ts'

test('a policy is read although its neighbour never comes to rest', async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'policy.json')
  writeFileSync(path, 'old')
  const clock = fakeClock()
  const changes: unknown[] = []
  const following = watchPolicy({
    path,
    loaded: 'old',
    clock,
    note: () => {},
    onChange: (change) => changes.push(change),
  })
  onTestFinished(() => following.close())
  // Told after the one above of the same change, because it came later.
  let seen: string[] = []
  const witness = watch(folder, (_, name) => seen.push(name ?? ''))
  onTestFinished(() => witness.close())
  const changed = async (name: string, act: () => void): Promise<void> => {
    seen = []
    act()
    await until(`a change of ${name}`, () => seen.includes(name))
  }
  await changed('policy.json', () => writeFileSync(path, 'new'))
  clock.advance(POLICY_SETTLE_MS * 0.6)
  await changed('events.jsonl', () => appendFileSync(join(folder, 'events.jsonl'), '{}\n'))
  clock.advance(POLICY_SETTLE_MS * 0.6)
  expect(changes).toEqual([{ text: 'new' }])
})
