// What no agent writes, whichever words of a shell lead there: our own state, git's hooks, and the files that hold ours.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hookRecordPath } from '../../src/hosts/hooks/guarding-files.ts'
import { readHook } from '../../src/hosts/hooks/hook-call.ts'
import { findProject } from '../../src/paths.ts'
import { protectedBy, writtenPaths } from '../../src/spine/hooks/hook-place.ts'
import { temporaryProject } from '../support/project.ts'

test('a home, a pattern, and a folder around it', () => {
  const { root, home, env } = temporaryProject()
  const settings = join(home, '.claude/settings.json')
  mkdirSync(join(root, '.git/heimdall'), { recursive: true })
  mkdirSync(join(home, '.claude'))
  mkdirSync(join(home, '.local/state/heimdall/init'), { recursive: true })
  writeFileSync(settings, '{}')
  writeFileSync(hookRecordPath(env, settings), JSON.stringify({ v: 1, path: settings }))
  const isRefused = (command: string): boolean => {
    const payload = { hook_event_name: 'PreToolUse', cwd: root, tool_name: 'Bash', tool_input: { command } }
    const read = readHook('claude', JSON.stringify(payload))
    if (!('call' in read) || read.call.tool === undefined) throw new Error('no tool was read')
    const project = findProject(root, env)
    return writtenPaths(read.call.tool, root, env).some((path) => protectedBy(path, project, env) !== undefined)
  }
  const refused = [
    'rm -rf .git/heimdall',
    'rm -rf .git',
    'rm -rf .git/heimda*',
    'rm -rf .git/*',
    'rm -rf .g?t',
    'rm -rf .git/{heimdall,info}',
    'rm -rf .git/[a-h]*',
    'rm -rf ../project',
    'mv .git x',
    'rm .git/hooks/pre-*',
    'echo x | tee .git/hooks/pre-commit',
    'echo {} > ~/.claude/settings.json',
    'cd ~/.claude && rm settings.json',
    'cd && rm .claude/settings.json',
    'cp x ~/.claude/settings.json',
    'rm -rf ~/.claude',
    'rm ~/.claude/*.json',
    `rm ${home}/.cl*/settings.json`,
    'mv ~/.local ~/old',
  ]
  const others = [
    'rm -rf *',
    'rm -rf ./* dist/*',
    'rm -rf .gi[a-f]*',
    'git checkout .',
    'rsync -a src/ .',
    'rm -rf .github .git/info',
    'echo > ~/notes.txt',
    "echo > '~/.claude/settings.json'",
    'echo > ~other/.claude/settings.json',
    'rm -rf ~/.cache ~/.claude/todos',
    'cp x ~/.claude/',
    'touch src/[id',
  ]
  expect(refused.filter((command) => !isRefused(command))).toEqual([])
  expect(others.filter(isRefused)).toEqual([])
})
