// Git is the judge of what goes past its hooks: in a repository whose hooks refuse everything, whatever commits or pushes all the same has to be known as a way past them.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readHook } from '../../src/hosts/hooks/hook-call.ts'
import { findProject } from '../../src/paths.ts'
import { withAliases } from '../../src/spine/hooks/git-aliases.ts'
import { refusedAnyway } from '../../src/spine/hooks/guarded-places.ts'
import { writtenPaths } from '../../src/spine/hooks/hook-place.ts'
import { perFile } from '../support/cleanup.ts'
import { bareEnv } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { copyTo, runRows, shareObjects } from '../support/oracle-rows.ts'
import { GIT_ENV } from '../support/repository.ts'

const env = {
  ...bareEnv(),
  HOME: '/nonexistent',
  ...GIT_ENV,
}

/** Something is staged, and every hook refuses. */
function makeStrict(at: string): void {
  mkdirSync(join(at, '../none'), { recursive: true })
  const git = (...args: string[]): void => void execFileSync('git', ['-C', at, ...args], { env, stdio: 'ignore' })
  execFileSync('git', ['init', '-q', '--template=', '--initial-branch=main', at], { env })
  git('commit', '-q', '--allow-empty', '--message=start')
  git('init', '-q', '--bare', '--template=', '../remote.git')
  git('remote', 'add', 'origin', '../remote.git')
  git('config', 'alias.wip', 'commit --no-verify')
  git('config', 'alias.yolo', '!git commit --no-verify')
  git('config', 'alias.twice', 'wip -q')
  git('config', 'alias.ci', 'commit')
  mkdirSync(join(at, '.git/hooks'))
  for (const hook of ['pre-commit', 'pre-push'])
    writeFileSync(join(at, '.git/hooks', hook), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  writeFileSync(join(at, '../elsewhere.cfg'), '[core]\n\thooksPath = ../none\n')
  writeFileSync(join(at, 'a.txt'), 'a\n')
  git('add', 'a.txt')
}

interface Verdict {
  /** Whether our hook would refuse the command. */
  readonly known: boolean
  /** Whether there is a commit, or a branch on the remote, that git's hooks have refused. */
  readonly past: boolean
}

const PAST_HOOKS = [
  // Every spelling of the option.
  'git commit -qm x --no-verify',
  'git commit -qm x --no-verif',
  'git commit -qm x --no-veri',
  'git commit -qnm x',
  'git commit -qm x -n',
  "git commit -qm x $'--no-verify'",
  'git commit -qm x $"--no-verify"',
  'git commit -qm x --no-{verify,verify}',
  `git commit -qm x --no"-ver"'ify'`,
  'git commit -qm x --no\\-verify',
  'git push -q --no-verify origin main',
  'git push -q --no-veri origin main',
  // Every way to configure it.
  'git -c core.hooksPath=../none commit -qm x',
  'git -c CORE.HOOKSPATH=../none commit -qm x',
  'git -c core.hooksPath= commit -qm x',
  'git -c core.hooksPath="$PWD/../none" commit -qm x',
  'P=../none git --config-env=core.hooksPath=P commit -qm x',
  'P=../none git --config-env core.hooksPath=P commit -qm x',
  'git -c include.path=../../elsewhere.cfg commit -qm x; git -c include.path="$PWD/../elsewhere.cfg" commit -qm x',
  'GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=../none git commit -qm x',
  'export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=../none; git commit -qm x',
  'env GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hookspath GIT_CONFIG_VALUE_0=../none git commit -qm x',
  `GIT_CONFIG_PARAMETERS="'core.hooksPath=../none'" git commit -qm x`,
  'GIT_CONFIG_GLOBAL=../elsewhere.cfg git commit -qm x',
  'GIT_CONFIG_GLOBAL="$PWD/../elsewhere.cfg" git commit -qm x',
  'git config core.hooksPath ../none && git commit -qm x',
  'git config --add core.hooksPath ../none && git commit -qm x',
  'git config --replace-all core.hookspath ../none && git commit -qm x',
  'git config --local core.hooksPath ../none && git commit -qm x',
  'git config --file .git/config core.hooksPath ../none && git commit -qm x',
  'git config include.path ../../elsewhere.cfg; git commit -qm x',
  "printf '[core]\\n\\thooksPath = ../none\\n' >> .git/config; git commit -qm x",
  'cat ../elsewhere.cfg >> .git/config && git commit -qm x',
  // Names of the user's choice.
  'git wip -qm x',
  'git yolo -qm x',
  'git twice -m x',
  "git -c alias.x='commit --no-verify' x -qm x",
  "git -c alias.x='!git commit --no-verify' x -qm x",
  "git config alias.x 'commit --no-verify'; git x -qm x",
  "shopt -s expand_aliases; alias g='git commit --no-verify'\ng -qm x",
  'function g { git commit --no-verify -qm x; }; g',
  'g() { git commit --no-verify -qm x; }; g',
  // Programs that run it.
  'command git commit -qm x --no-verify',
  'env -S "git commit -qm x --no-verify"',
  'env -iS "PATH=$PATH GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x git commit -qm x --no-verify"',
  'env -S "git commit --no-verify" -qm x',
  'echo x | xargs git commit -q --no-verify -m',
  'echo x | xargs -I{} git commit -q --no-verify -m {}',
  "find a.txt -exec git commit -qm x --no-verify ';'",
  'bash -c "cd $PWD && git commit -qm x --no-verify"',
  'bash -c "$(echo) git commit -qm x --no-verify"',
  "eval 'git commit' -qm x --no-verify",
  "echo 'git commit -qm x --no-verify' | bash",
  "printf 'git commit -qm x --no-verify' | sh",
  'cat <<EOF | bash\ngit commit -qm x --no-verify\nEOF',
  'bash <<EOF\ngit commit -qm x --no-verify\nEOF',
  '`echo git` status >/dev/null; `git commit -qm x --no-verify`',
  'cat <<EOF\n$(git commit -qm x --no-verify)\nEOF',
  "trap 'git commit -qm x --no-verify' EXIT",
  'flock a.txt git commit -qm x --no-verify',
  "flock a.txt -c 'git commit -qm x --no-verify'",
  "git rebase -q --root -x 'git commit -q --allow-empty -m x --no-verify'; git rebase -q --abort; git stash -q; git rebase -q --root -x 'git commit -q --allow-empty -m x --no-verify'",
  'V=--no-verify; git commit -qm x $V',
  'export V=--no-verify && git commit -qm x "$V"',
  // What git runs.
  'rm .git/hooks/pre-commit && git commit -qm x',
  'chmod -x .git/hooks/pre-commit && git commit -qm x',
  'chmod a-x .git/hooks/* && git commit -qm x',
  'ln -sf /bin/true .git/hooks/pre-commit && git commit -qm x',
  'find .git/hooks -type f -delete && git commit -qm x',
  'find .git/hooks -type f -exec rm {} + && git commit -qm x',
  'mv .git/hooks .git/was && git commit -qm x',
]

const NONE = [
  'git commit -qm x',
  'git commit -m --no-verify',
  'git commit -qm x -- --no-verify',
  'git commit -q --message "with --no-verify" --no-verbose',
  'git ci -qm x',
  'git -c user.name=x commit -qm x',
  'git -c core.editor=true commit',
  'GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 git commit -qm x',
  'GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=x git commit -qm x',
  'HUSKY=0 git commit -qm x',
  'SKIP=all git commit -qm x',
  'git config core.hooksPath',
  'git config --get core.hooksPath',
  'git config --get-all core.hooksPath',
  'git config get core.hooksPath',
  'git config --list',
  'git config user.name x',
  'git config alias.st status',
  'echo git commit --no-verify',
  'grep -rn core.hooksPath .',
  'git log --grep=--no-verify',
  'rm -f .git/index.lock .git/MERGE_MSG',
  'find . -name "*.tmp" -delete',
  'git merge --no-ff --no-verify-signatures main',
]

const verdicts = perFile(async () => {
  const place = temporaryFolder()
  const template = join(place, 'template')
  makeStrict(join(template, 'project'))
  shareObjects(join(template, 'project'), join(place, 'objects'))
  const rows = [...PAST_HOOKS, ...NONE].map((command, index) => ({
    command,
    cwd: join(copyTo(join(place, String(index)), template), 'project'),
  }))
  const known = rows.map(({ command, cwd }) => isKnown(command, cwd))
  const before = headCommit(join(template, 'project'))
  await runRows(rows, env)
  return new Map(
    rows.map(({ command, cwd }, index): [string, Verdict] => {
      const isPushed = readdirSync(join(cwd, '../remote.git/refs/heads')).length > 0
      return [command, { known: known[index] === true, past: headCommit(cwd) !== before || isPushed }]
    }),
  )
})

function isKnown(command: string, root: string): boolean {
  const payload = { hook_event_name: 'PreToolUse', cwd: root, tool_name: 'Bash', tool_input: { command } }
  const read = readHook('claude', JSON.stringify(payload))
  if (!('call' in read) || read.call.tool === undefined) throw new Error('no tool was read')
  const tool = withAliases(read.call.tool, root, env)
  return refusedAnyway(tool, writtenPaths(tool, root, env), findProject(root, env), env) !== undefined
}

/** Read from the files: nothing here packs references. */
function headCommit(root: string): string {
  const head = readFileSync(join(root, '.git/HEAD'), 'utf8')
  return head.startsWith('ref: ') ? readFileSync(join(root, '.git', head.slice(5).trim()), 'utf8') : head
}

test.each(PAST_HOOKS)('%s', (command) => {
  // A command that git stops by itself proves nothing here.
  expect(verdicts().get(command)).toEqual({ known: true, past: true })
})

test.each(NONE)('%s is none', (command) => {
  expect(verdicts().get(command)).toEqual({ known: false, past: false })
})
