// Several `hm run` without --id at once: all chose the same free name, and all but one failed with "in use".
import { expect, test } from 'vitest'
import { hm } from '../hm/hm.ts'

test('runs of one command at the same time each get a number of their own', async () => {
  const home = hm()
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => home.run(['run', '--detach', '--', 'sleep', '1000'])),
  )
  expect(answers.map(({ code, stderr }) => [code, stderr])).toEqual(answers.map(() => [0, '']))
  const ids = answers.map(({ stdout }) => /^Session (\S+) runs/.exec(stdout)?.[1])
  expect(new Set(ids)).toEqual(new Set(['sleep', 'sleep-2', 'sleep-3', 'sleep-4']))
})

test('an id that was asked for is still refused when it is taken', async () => {
  const home = hm()
  const start = ['run', '--detach', '--id', 'mine', '--', 'sleep', '1000']
  const answers = await Promise.all([home.run(start), home.run(start)])
  expect(new Set(answers.map(({ code }) => code))).toEqual(new Set([0, 1]))
})
