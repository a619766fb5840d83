// Seed 002 §8.4, §9: the skill tells the flow as it is. Every command in it runs, in order.
import { readFileSync } from 'node:fs'
import { delimiter, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { runProgram } from '../support/programs.ts'
import { temporaryProject } from '../support/project.ts'

const bin = resolve(import.meta.dirname, '../../bin')
const skill = readFileSync(resolve(import.meta.dirname, '../../skills/beadboard-driver/SKILL.md'), 'utf8')
const blocks = [...skill.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block]) => block ?? '')

test('all commands of the skill succeed one after the other', async () => {
  expect(blocks.length).toBeGreaterThan(6)
  const project = temporaryProject()
  const env = { ...project.env, PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}` }
  const { code, stdout, stderr } = await runProgram(['sh', '-e', '-c', blocks.join('\n')], { cwd: project.root, env })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain('"mode": "adopt"')
  expect(stdout).toContain('held by    you, amber-otter')
})
