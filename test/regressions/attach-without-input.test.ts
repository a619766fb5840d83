// `hm attach ID </dev/null` (cron, CI, ssh -n) ended the session: the end of input was typed into it as Ctrl-D.
import { expect, test } from 'vitest'
import { hm } from '../hm/hm.ts'

test('input that ends lets attach leave, and nothing is typed; what was piped before arrives', async () => {
  const home = hm()
  await home.session('s', ['sh', '-c', 'read line || exit 9; [ "$line" = "a line" ] && exit 4; exit 5'])
  expect((await home.run(['attach', 's'], { stdin: '' })).code).toBe(0)
  // The program may be quicker than the end of input.
  expect([0, 4]).toContain((await home.run(['attach', 's'], { stdin: 'a line\n' })).code)
  expect(await home.json(['wait', 's'])).toMatchObject({ exit_code: 4 })
})

test('run hands the end of its input on, also of none at all', async () => {
  const { code, stdout } = await hm().run(['run', '--', 'sh', '-c', 'cat; echo over; exit 3'], { stdin: '' })
  expect([code, stdout]).toEqual([3, expect.stringContaining('over')])
})
