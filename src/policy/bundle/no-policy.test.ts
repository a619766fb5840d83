import { expect, test } from 'vitest'
import { compileBundle } from './compile.ts'
import { NO_POLICY, NO_POLICY_NAMES } from './no-policy.ts'

test('what is said of no policy is what compiling it gives', async () => {
  expect(await compileBundle(NO_POLICY, { name: 'default' })).toMatchObject(NO_POLICY_NAMES)
})
