// heimdall run --worktree: where the agent runs, on which branch, and what is not begun.
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder, temporaryProject } from '../support/project.ts'
import { agentsAt, lines, listed } from './repository.ts'

const worktreesOf = (home: string): string => join(home, '.local/state/heimdall/worktrees')

test('the agent runs in a worktree and on a branch of its own, and gets both back the next time', async () => {
  const { project, git, agent, heimdall } = agentsAt()
  project.write('.env', 'KEY=1\n')
  project.write('sub/a.txt', 'a\n')
  project.write('notes.txt', 'mine\n')
  git(project.root, 'add', 'sub')
  git(project.root, 'commit', '--quiet', '-m', 'sub')
  const seen = join(project.home, 'seen')
  const ended = await project.run(
    'heimdall',
    [
      'run',
      '--worktree',
      '--agent',
      'amber-otter',
      '--copy',
      '../.env',
      '--',
      'sh',
      '-c',
      `pwd >${seen}; git branch --show-current >>${seen}; cat ../.env >>${seen}; echo more >>a.txt`,
    ],
    { cwd: project.path('sub') },
  )
  expect(ended).toMatchObject({ code: 0 })
  const path = listed(await heimdall('worktree', 'list', '--json'))[0]?.path ?? ''
  expect(path.startsWith(worktreesOf(project.home))).toBe(true)
  expect(readFileSync(seen, 'utf8')).toBe(`${path}/sub\nheimdall/amber-otter\nKEY=1\n`)
  // What is not there is said; what was done there is nowhere else.
  expect(ended.stderr).toContain('not in the worktree: notes.txt')
  expect(ended.stderr).not.toContain('.env')
  expect(project.read('sub/a.txt')).toBe('a\n')
  expect(git(project.root, 'status', '--porcelain')).toBe('?? notes.txt')
  expect(git(path, 'status', '--porcelain')).toBe(' M sub/a.txt')
  expect(await agent('amber-otter', 'echo again >>sub/a.txt')).toBe(path)
  expect(readFileSync(join(path, 'sub/a.txt'), 'utf8')).toBe('a\nmore\nagain\n')
})

test('what an agent writes down in its worktree is on the one blackboard, and does not make the worktree dirty', async () => {
  const { project, git, agent, heimdall } = agentsAt()
  git(project.root, 'rm', '--quiet', '--cached', '.gitignore')
  git(project.root, 'commit', '--quiet', '-m', 'nothing is ignored')
  const [node, bin] = [process.execPath, join(import.meta.dirname, '../../bin/heimdall')]
  const path = await agent('amber-otter', `${node} ${bin} fact set api.port 4000 && ${node} ${bin} claim src/api.ts`)
  expect(await heimdall('fact', 'get', 'api.port')).toMatchObject({ code: 0, stdout: expect.stringContaining('4000') })
  expect(git(path, 'status', '--porcelain', '--untracked-files=all')).toBe('')
  expect(existsSync(join(path, '.planning'))).toBe(false)
})

test('taken names lead to free ones', async () => {
  const { project, git, give } = agentsAt()
  git(project.root, 'branch', 'heimdall/amber-otter')
  git(project.root, 'branch', 'heimdall/cobalt-harbor/old')
  const path = await give('amber-otter')
  expect(git(path, 'branch', '--show-current')).toBe('heimdall/amber-otter-2')
  expect(git(await give('cobalt-harbor'), 'branch', '--show-current')).toBe('heimdall/cobalt-harbor-2')
  mkdirSync(join(path, '../jade-heron'))
  expect(await give('jade-heron')).toBe(join(path, '../jade-heron-2'))
  const other = agentsAt()
  other.git(other.project.root, 'branch', 'heimdall')
  expect(other.git(await other.give('amber-otter'), 'branch', '--show-current')).toBe('heimdall-amber-otter')
})

test('--base, a detached HEAD and a linked worktree are places to begin at', async () => {
  const { project, git, give, commit } = agentsAt()
  const first = git(project.root, 'rev-parse', 'HEAD~1')
  expect(git(await give('amber-otter', { base: 'HEAD~1' }), 'rev-parse', 'HEAD')).toBe(first)
  git(project.root, 'switch', '--quiet', '--detach')
  const head = git(project.root, 'rev-parse', 'HEAD')
  expect(git(await give('cobalt-harbor'), 'rev-parse', 'HEAD')).toBe(head)
  const linked = join(temporaryFolder(), 'linked')
  git(project.root, 'worktree', 'add', '--quiet', '-b', 'topic', linked)
  const tip = commit(linked, 'topic.txt', 'x\n')
  const ended = await project.run('heimdall', ['run', '--worktree', '--agent', 'jade-heron', '--', 'true'], {
    cwd: linked,
  })
  expect(ended).toMatchObject({ code: 0 })
  expect(git(project.root, 'rev-parse', 'heimdall/jade-heron')).toBe(tip)
})

test('blanks, line feeds and letters of all kinds in names', async () => {
  const folder = join(temporaryFolder(), 'ein Projekt\nmit Ümlaut 雪')
  mkdirSync(folder)
  const base = temporaryProject({ git: false })
  const root = realpathSync(folder)
  const agents = agentsAt({ ...base, root, path: (...segments) => join(root, ...segments), ...within(base, root) })
  const odd = 'src/a b\n"c" é.txt'
  agents.commit(root, odd, lines())
  const path = await agents.agent('amber-otter', 'echo more >>"$(ls -d src/*)"')
  expect(readFileSync(join(path, odd), 'utf8')).toBe(`${lines()}more\n`)
  const diff = await agents.heimdall('diff', '--json')
  expect(JSON.parse(diff.stdout)).toMatchObject({ data: { files: [{ path: odd, status: 'M', added: 1, deleted: 0 }] } })
  expect(await agents.heimdall('merge', 'amber-otter', '--commit', 'more')).toMatchObject({ code: 0 })
  expect(readFileSync(join(root, odd), 'utf8')).toBe(`${lines()}more\n`)
  expect(await agents.heimdall('worktree', 'remove', 'amber-otter')).toMatchObject({ code: 0 })
})

function within(
  base: ReturnType<typeof temporaryProject>,
  root: string,
): Partial<typeof base> & Pick<typeof base, 'run' | 'git'> {
  const run: typeof base.run = (bin, args, options) => base.run(bin, args, { cwd: root, ...options })
  return { git: (...args: string[]) => base.git('-C', root, ...args), run }
}

test('nothing is begun where nothing can be: no git, no commit, no such base, a place inside of a checkout', async () => {
  const run = ['run', '--worktree', '--agent', 'amber-otter']
  const plain = temporaryProject({ git: false })
  const codeThere = async (): Promise<string> => {
    const { stdout } = await plain.run('heimdall', ['--json', ...run, '--', 'true'])
    return (JSON.parse(stdout) as { error: { code: string } }).error.code
  }
  expect(await codeThere()).toBe('WORKTREE_NO_REPOSITORY')
  plain.git('init', '--quiet')
  expect(await codeThere()).toBe('WORKTREE_NO_BASE')
  const { project, git, refused, heimdall, write } = agentsAt()
  const before = git(project.root, 'for-each-ref')
  expect(await refused(...run, '--base=--help', '--', 'true')).toMatchObject({ code: 'WORKTREE_NO_BASE' })
  expect(await refused('run', '--base', 'main', '--', 'true')).toMatchObject({ code: 'USAGE' })
  expect(await refused(...run, '--copy', '.env', '--', 'true')).toMatchObject({ code: 'USAGE' })
  expect(await refused(...run, '--copy', '/etc/hosts', '--', 'true')).toMatchObject({ code: 'PATH_OUTSIDE_ROOT' })
  // There in the checkout and in no commit: found missing when the worktree is made, which then goes again.
  chmodSync(project.write('run.sh', '#!/bin/sh\n'), 0o755)
  expect(await refused(...run, '--', './run.sh')).toMatchObject({ code: 'SESSION_COMMAND_NOT_FOUND' })
  write(project.home, '.config/heimdall/heimdall.toml', `[worktree]\ndir = ${JSON.stringify(project.path('trees'))}\n`)
  expect(await refused(...run, '--', 'true')).toMatchObject({ code: 'WORKTREE_PLACE_UNFIT' })
  expect(git(project.root, 'for-each-ref')).toBe(before)
  expect(git(project.root, 'worktree', 'list', '--porcelain').match(/^worktree /gm)).toHaveLength(1)
  expect(listed(await heimdall('worktree', 'list', '--json'))).toEqual([])
  expect(existsSync(worktreesOf(project.home)) ? readdirSync(worktreesOf(project.home)) : []).toEqual([])
})

test('hm ls names the project that an agent in a worktree works for', async () => {
  const { project, heimdall } = agentsAt()
  const start = ['run', '--worktree', '--agent', 'amber-otter', '--detach', '--', 'sh', '-c', 'read line']
  expect(await heimdall(...start)).toMatchObject({ code: 0 })
  const { data } = JSON.parse((await project.run('hm', ['ls', '--json'])).stdout) as {
    data: { sessions: { id: string; project: string }[] }
  }
  expect(data.sessions).toMatchObject([{ id: 'amber-otter', project: project.root }])
  expect(await heimdall('kill', '--wait', 'amber-otter')).toMatchObject({ code: 0 })
})

test('.worktreeinclude brings what git ignores and nothing else; the setup runs once, and one that fails leaves nothing', async () => {
  const agents = agentsAt()
  const { project, git, give, write, heimdall, refused } = agents
  const { root } = project
  for (const [path, text] of [
    ['.env', 'KEY=1\n'],
    ['app/my.local', 'mine\n'],
    ['out/cache', 'built\n'],
    ['notes.txt', 'neither ignored nor committed\n'],
  ] as const)
    write(root, path, text)
  write(root, '.worktreeinclude', '# for agents\n*.local\n.env*\nnotes.txt\n')
  const path = await give('amber-otter')
  expect(readFileSync(join(path, '.env'), 'utf8')).toBe('KEY=1\n')
  expect(readFileSync(join(path, 'app/my.local'), 'utf8')).toBe('mine\n')
  expect([existsSync(join(path, 'notes.txt')), existsSync(join(path, 'out'))]).toEqual([false, false])
  expect(git(path, 'status', '--porcelain')).toBe('')

  const settings = (text: string) => write(project.home, '.config/heimdall/heimdall.toml', `[worktree]\n${text}\n`)
  const run = (name: string) => ['run', '--worktree', '--agent', name, '--', 'sh', '-c', 'cat out/ready']
  settings('setup = "mkdir -p out && echo $HEIMDALL_CHECKOUT >> out/ready"')
  expect(await heimdall(...run('teal-crane'))).toMatchObject({ code: 0, stdout: expect.stringContaining(root) })
  const again = await heimdall(...run('teal-crane'))
  expect(again.stdout.split(root)).toHaveLength(2)
  settings('setup = "echo no disk; exit 3"')
  expect(await refused(...run('ruby-wren'))).toMatchObject({
    code: 'WORKTREE_SETUP_FAILED',
    message: expect.stringContaining('exit 3: no disk'),
  })
  expect(listed(await heimdall('worktree', 'list', '--json')).map(({ agent }) => agent)).toEqual([
    'amber-otter',
    'teal-crane',
  ])
  // A repository that arrives with a command of its own is not obeyed.
  write(project.home, '.config/heimdall/heimdall.toml', '')
  write(root, 'heimdall.toml', '[worktree]\nsetup = "touch out/taken"\n')
  const untrusted = await heimdall('run', '--worktree', '--agent', 'ruby-wren', '--', 'sh', '-c', 'ls out; true')
  expect(untrusted.stdout).not.toContain('taken')
})
