// What no agent writes, whichever words of a shell lead there: our own state, git's hooks, and the files that hold ours.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { GUARD_MARK } from '../../src/coordination/guard-mark.ts'
import { hookRecordPath } from '../../src/hosts/hooks/guarding-files.ts'
import { readHook } from '../../src/hosts/hooks/hook-call.ts'
import { findProject } from '../../src/paths.ts'
import { guardedPlaces } from '../../src/spine/hooks/guarded-places.ts'
import { writtenPaths } from '../../src/spine/hooks/hook-place.ts'
import { temporaryProject } from '../support/project.ts'

test('a home, a pattern, and a folder around it', () => {
  const { root, home, env: known } = temporaryProject()
  // The file of the user's own settings, as git has it without a word on it.
  const { GIT_CONFIG_GLOBAL: _, ...env } = known
  const settings = join(home, '.claude/settings.json')
  mkdirSync(join(root, '.git/heimdall'), { recursive: true })
  mkdirSync(join(home, '.claude'))
  mkdirSync(join(home, '.local/state/heimdall/init'), { recursive: true })
  writeFileSync(settings, '{}')
  mkdirSync(join(root, '.githooks'))
  writeFileSync(join(root, '.githooks/pre-commit'), `#!/bin/sh\n${GUARD_MARK}\n`)
  writeFileSync(join(root, '.git/config'), '[core]\n\thooksPath = .githooks\n')
  writeFileSync(hookRecordPath(env, settings), JSON.stringify({ v: 1, path: settings }))
  const isRefused = (command: string): boolean => {
    const payload = { hook_event_name: 'PreToolUse', cwd: root, tool_name: 'Bash', tool_input: { command } }
    const read = readHook('claude', JSON.stringify(payload))
    if (!('call' in read) || read.call.tool === undefined) throw new Error('no tool was read')
    const project = findProject(root, env)
    const why = guardedPlaces(project, env)
    return writtenPaths(read.call.tool, root, env).some((path) => why(path) !== undefined)
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
    'rm "$HOME/.claude/settings.json"',
    'F=${HOME}/.claude/settings.json; echo {} > "$F"',
    'echo x >> .git/config',
    'sed -i s/a/b/ "$PWD/.git/config"',
    'cp x .git/config.worktree',
    'rm -rf .git/worktrees/other',
    'echo "[core]" > ~/.gitconfig',
    'chmod -x .git/hooks/pre-commit',
    'chmod --reference=x .git/hooks/pre-commit',
    'find .git/hooks -name "pre-*" -delete',
    'rm .githooks/pre-commit',
    'rm -rf .githooks',
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
    'find . -name "*.pyc" -delete',
    'find .git -name "*.lock" -delete',
    'echo x >> .gitignore',
    'rm -f .git/index.lock',
    'echo x > .githooks/post-merge',
    'chmod +x run.sh',
  ]
  expect(refused.filter((command) => !isRefused(command))).toEqual([])
  expect(others.filter(isRefused)).toEqual([])
})
