// An agent in a worktree of its own, which lies among our state: hooks let it write there, and nowhere else among our state.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { launcher } from '../support/programs.ts'
import { temporaryProject } from '../support/project.ts'

test('hooks let an agent write in its own worktree', async () => {
  const project = temporaryProject()
  const script = join(project.home, 'asks')
  const tools = [
    { tool_name: 'Write', tool_input: { file_path: 'own.ts' } },
    { tool_name: 'Bash', tool_input: { command: 'mkdir -p src; echo x > src/a.ts; rm -rf src/* *.tmp' } },
    { tool_name: 'Write', tool_input: { file_path: '../other/theirs.ts' } },
    { tool_name: 'Bash', tool_input: { command: 'rm -rf ../../../runs' } },
  ]
  const calls = tools.map((tool) =>
    JSON.stringify({ hook_event_name: 'PreToolUse', session_id: 's', ...tool }).replaceAll("'", String.raw`'\''`),
  )
  const line = launcher('heimdall')
    .map((word) => `'${word}'`)
    .join(' ')
  writeFileSync(
    script,
    ['#!/bin/sh', ...calls.map((call) => `echo "answer $(printf %s '${call}' | ${line} hook claude)"`), ''].join('\n'),
    { mode: 0o755 },
  )
  const { stdout } = await project.run('heimdall', ['run', '--agent', 'amber-otter', '--worktree', '--', script])
  const answers = stdout
    .split(/\r?\n/)
    .filter((one) => one.startsWith('answer'))
    .map((one) => (one.includes('"deny"') ? 'deny' : 'pass'))
  expect(answers, stdout).toEqual(['pass', 'pass', 'deny', 'deny'])
})
