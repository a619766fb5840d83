// peek and logs show families as families and Persian as it is written, and still nothing that deceives.
import { expect, test } from 'vitest'
import { hm } from '../hm/hm.ts'
import { until } from '../support/wait.ts'

const FAMILY = 'a 👩\u200d👩\u200d👧 z'
const PERSIAN = 'می\u200cخواهم'

test('ZWJ and ZWNJ come through where they join; bidi controls and joiners in Latin do not', async () => {
  const home = hm()
  const lines = [FAMILY, PERSIAN, 'pass\u200cword\u202e', 'last']
  await home.session('j', ['sh', '-c', `printf '%s\\n' "$@"; cat`, 'sh', ...lines])
  await until('the output', async () => (await home.run(['logs', 'j'])).stdout.includes('last'))
  const expected = [FAMILY, PERSIAN, 'password', 'last']
  expect((await home.run(['logs', 'j'])).stdout.trimEnd().split('\n')).toEqual(expected)
  expect(((await home.json(['peek', 'j']))['lines'] as string[]).slice(0, 4)).toEqual(expected)
})
