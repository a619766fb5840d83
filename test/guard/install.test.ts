// Installing and removing the guard: existing hooks keep running, nothing of others is lost.
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { playHost } from '../support/played-host.ts'
import { launcher } from '../support/programs.ts'
import { temporaryFolder, temporaryProject, type TemporaryProject } from '../support/project.ts'
import { guardedRepository } from './repository.ts'

function addHook(project: TemporaryProject, path: string, text: string): void {
  chmodSync(project.write(path, `#!/bin/sh\n${text}\n`), 0o755)
}

const HOOKS = ['pre-commit', 'pre-push', 'prepare-commit-msg', 'post-commit']

test('hooks in .git/hooks run first, with their arguments and input, and decide first', async () => {
  const repo = await guardedRepository((project) => {
    addHook(project, '.git/hooks/pre-commit', 'echo "theirs: commit" >> hooks.log; [ ! -e stop ]')
    addHook(project, '.git/hooks/prepare-commit-msg', 'echo "theirs: $2" >> hooks.log')
    addHook(project, '.git/hooks/pre-push', 'echo "theirs: $1 $(cat | cut -d" " -f1)" >> hooks.log')
  })
  repo.project.write('.gitignore', 'hooks.log\nstop\n')
  expect(repo.commit(repo.cobalt, 'src/api/users.ts').code).toBe(1)
  expect(repo.commit(repo.amber, 'src/api/users.ts').code).toBe(0)
  const remote = temporaryFolder()
  repo.git({}, ['init', '--quiet', '--bare', remote])
  expect(repo.git(repo.amber, ['push', '--quiet', remote, 'main']).code).toBe(0)
  expect(repo.project.read('hooks.log').trim().split('\n')).toEqual([
    'theirs: commit',
    'theirs: commit',
    'theirs: message',
    `theirs: ${remote} refs/heads/main`,
  ])
  repo.project.write('stop', '')
  expect(repo.commit(repo.amber, 'src/web/app.ts').code).toBe(1)
})

test('hooks of core.hooksPath inside the project are chained as well', async () => {
  const repo = await guardedRepository((project) => {
    project.git('config', 'core.hooksPath', '.githooks')
    addHook(project, '.githooks/pre-commit', 'echo theirs >> hooks.log')
  })
  expect(repo.commit(repo.cobalt, 'src/api/users.ts').code).toBe(1)
  expect(repo.project.read('hooks.log')).toBe('theirs\n')
  expect(existsSync(repo.project.path('.githooks/pre-commit.before-heimdall'))).toBe(true)
})

test('hooks that serve other repositories too are left alone', async () => {
  const project = temporaryProject()
  project.git('config', 'core.hooksPath', temporaryFolder())
  const { code, stderr } = await project.run('heimdall', ['guard', 'install'])
  expect(code).toBe(5)
  expect(stderr).toContain('outside this repository')
  expect(stderr).toContain('git config --local core.hooksPath .git/hooks')
})

test('install twice, uninstall once: everything is as it was', async () => {
  const project = temporaryProject()
  addHook(project, '.git/hooks/pre-commit', 'exit 0')
  const before = project.read('.git/hooks/pre-commit')
  await project.run('heimdall', ['guard', 'install'])
  const { stdout } = await project.run('heimdall', ['guard', 'install', '--json'])
  expect(JSON.parse(stdout)).toMatchObject({
    ok: true,
    data: { hooks: HOOKS.map((hook) => ({ hook, chained: hook === 'pre-commit' ? expect.any(String) : null })) },
  })
  const removed = await project.run('heimdall', ['guard', 'uninstall', '--json'])
  expect(JSON.parse(removed.stdout)).toMatchObject({
    data: { hooks: [{ outcome: 'restored' }, { outcome: 'removed' }, { outcome: 'removed' }, { outcome: 'removed' }] },
  })
  expect(project.read('.git/hooks/pre-commit')).toBe(before)
  for (const hook of HOOKS.slice(1)) expect(existsSync(project.path('.git/hooks', hook))).toBe(false)
  const again = await project.run('heimdall', ['guard', 'uninstall'])
  expect(again.stdout).toContain('pre-commit: belongs to another program and was not changed')
})

test('a hook that replaced ours is neither overwritten nor removed', async () => {
  const project = temporaryProject()
  addHook(project, '.git/hooks/pre-commit', 'exit 0')
  await project.run('heimdall', ['guard', 'install'])
  addHook(project, '.git/hooks/pre-commit', 'echo newer')
  const { code, stderr } = await project.run('heimdall', ['guard', 'install'])
  expect(code).toBe(5)
  expect(stderr).toContain('is not ours')
  expect(project.read('.git/hooks/pre-commit')).toContain('newer')
})

test('no repository, and a bare one: a code, and nothing done', async () => {
  const bare = temporaryProject({ git: false })
  bare.git('init', '--quiet', '--bare')
  for (const project of [temporaryProject({ git: false }), bare]) {
    const { code, stderr } = await project.run('heimdall', ['guard', 'install'])
    expect(code).toBe(3)
    expect(stderr).toContain('no git repository with a working tree')
  }
})

test('a repository where nobody ever claimed anything is not touched by a commit', async () => {
  const project = temporaryProject()
  await project.run('heimdall', ['guard', 'install'])
  project.write('a.txt', 'x\n')
  project.git('add', '.')
  project.git('commit', '--quiet', '-m', 'x')
  expect(existsSync(project.path('.git/heimdall'))).toBe(false)
  expect(existsSync(project.path('.planning'))).toBe(false)
})

// Husky's hooks find their script by their own file name.
/** As husky 9 lays them out: generated hooks that all read one script, beside the person's own. */
function layOutLikeHusky(project: TemporaryProject, shebang: string): void {
  project.git('config', 'core.hooksPath', '.husky/_')
  project.write(
    '.husky/_/h',
    'n=$(basename "$0")\ns=$(dirname "$(dirname "$0")")/$n\n[ ! -f "$s" ] && exit 0\nsh -e "$s" "$@"\nexit $?\n',
  )
  for (const hook of ['pre-commit', 'prepare-commit-msg', 'pre-push', 'post-commit'])
    chmodSync(project.write(`.husky/_/${hook}`, `${shebang}\n. "$(dirname "$0")/h"\n`), 0o755)
  project.write('.husky/pre-commit', 'echo "commit" >>hooks.log\n[ ! -e stop ]\n')
  project.write('.husky/prepare-commit-msg', 'echo "message $2" >>hooks.log\n')
  project.write('.husky/pre-push', 'echo "push $1 $(cut -d" " -f1)" >>hooks.log\n')
}

test('a person’s hooks run under husky, with arguments and input', async () => {
  const shebang = '#!/usr/bin/env sh'
  const repo = await guardedRepository((project) => layOutLikeHusky(project, shebang))
  expect(repo.commit(repo.cobalt, 'src/api/users.ts').code).toBe(1)
  repo.git({}, ['reset', '--quiet'])
  expect(repo.commit(repo.cobalt, 'docs/a.md').code).toBe(0)
  const remote = temporaryFolder()
  repo.git({}, ['init', '--quiet', '--bare', remote])
  expect(repo.git(repo.cobalt, ['push', '--quiet', remote, 'main']).code).toBe(0)
  expect(repo.project.read('hooks.log').trim().split('\n')).toEqual([
    'commit',
    'commit',
    'message message',
    `push ${remote} refs/heads/main`,
  ])
  repo.project.write('stop', '')
  expect(repo.commit(repo.cobalt, 'docs/b.md').code).toBe(1)
  await repo.project.run('heimdall', ['guard', 'uninstall'])
  expect(repo.project.read('.husky/_/pre-commit')).toBe(`${shebang}\n. "$(dirname "$0")/h"\n`)
})

test.each(['#!/bin/sh -e', '#! /bin/sh', '#!/usr/bin/env bash'])(
  'hooks that begin with %s find their script too',
  async (shebang) => {
    const repo = await guardedRepository((project) => layOutLikeHusky(project, shebang))
    expect(repo.commit(repo.cobalt, 'docs/a.md').code).toBe(0)
    expect(repo.project.read('hooks.log')).toBe('commit\nmessage message\n')
    await repo.project.run('heimdall', ['guard', 'uninstall'])
    expect(repo.project.read('.husky/_/pre-commit')).toBe(`${shebang}\n. "$(dirname "$0")/h"\n`)
  },
)

test('a hook in another language is run as it is', async () => {
  const repo = await guardedRepository((project) => {
    const text = `#!${process.execPath}\nrequire('node:fs').appendFileSync('hooks.log', 'node ' + process.argv.slice(2).length)\n`
    chmodSync(project.write('.git/hooks/prepare-commit-msg', text), 0o755)
  })
  expect(repo.commit({}, 'docs/a.md').code).toBe(0)
  expect(repo.project.read('hooks.log')).toBe('node 2')
})

// Half an installation, and the text of refusals.
test.each([
  ['a foreign hook with something in the way of setting it aside', 'foreign'],
  ['a folder where a hook belongs', 'folder'],
  ['a link to nowhere, met when three of four are in place', 'link'],
])('%s: nothing is installed at all', async (_, what) => {
  const project = temporaryProject()
  const theirs = '#!/bin/sh\necho theirs\n'
  chmodSync(project.write('.git/hooks/pre-commit', theirs), 0o755)
  if (what === 'foreign') {
    project.write('.git/hooks/post-commit', theirs)
    project.write('.git/hooks/post-commit.before-heimdall', 'x')
  } else if (what === 'folder') mkdirSync(project.path('.git/hooks/post-commit'))
  else symlinkSync('nowhere', project.path('.git/hooks/post-commit'))
  const before = readdirSync(project.path('.git/hooks')).toSorted()
  const { code } = await project.run('heimdall', ['guard', 'install'])
  expect(code).not.toBe(0)
  expect(readdirSync(project.path('.git/hooks')).toSorted()).toEqual(before)
  expect(project.read('.git/hooks/pre-commit')).toBe(theirs)
})

test('a push names each path once, and advises what helps a push', async () => {
  const repo = await guardedRepository()
  const remote = temporaryFolder()
  repo.git({}, ['init', '--quiet', '--bare', remote])
  for (let i = 0; i < 3; i += 1) {
    repo.project.write('src/api/users.ts', `${i}\n`)
    repo.git({}, ['add', '--all'])
    repo.git(repo.cobalt, ['-c', 'core.hooksPath=/dev/null', 'commit', '--quiet', '-m', 'sneaky'])
  }
  const { code, stderr } = repo.git(repo.cobalt, ['push', remote, 'main'])
  expect(code).toBe(1)
  expect(stderr.match(/src\/api\/users\.ts {2}held by/g)).toHaveLength(1)
  expect(stderr).toContain('push again')
  expect(stderr).not.toContain('--staged')
})

test('a person who was warned is not told of having gone past the guard; one who went past it is', async () => {
  const repo = await guardedRepository()
  repo.project.write('src/api/users.ts', 'x\n')
  repo.git({}, ['add', '--all'])
  const warned = await repo.gitByPerson(['commit', '--message', 'x'])
  expect(warned).toEqual({ code: 0, shown: expect.stringContaining('warning, other agents hold') })
  expect(warned.shown).not.toContain('went past')
  expect(repo.incursions()).toHaveLength(1)
  expect(repo.commit({}, 'src/api/more.ts', '--no-verify').stderr).toContain('bypassed the guard')
})

test('git does not ask before a revert: it is noticed after it', async () => {
  const repo = await guardedRepository()
  repo.commit(repo.amber, 'src/api/users.ts')
  const reverted = repo.git(repo.cobalt, ['revert', '--no-edit', 'HEAD'])
  expect(reverted).toMatchObject({ code: 0, stderr: expect.stringContaining('bypassed the guard') })
  expect(repo.incursions()).toMatchObject([{ payload: { incoming_agent: 'cobalt-harbor' } }])
})

// Only a human removes the guards, whatever the spelling of the command.
test('uninstall, restore, guard uninstall and a looser init are refused inside a host, by every name', async () => {
  const project = temporaryProject()
  project.write('../home/.claude.json', JSON.stringify({ mcpServers: { files: { command: 'files-server' } } }))
  const init = await project.run('heimdall', ['init', 'claude', '--yes', '--strict'])
  expect(init.code, init.stderr).toBe(0)
  const files = ['.claude.json', '.claude/settings.json']
  const before = files.map((file) => project.read(`../home/${file}`))
  const host = playHost(project)
  const refused = [
    ['heimdall', 'uninstall', '--yes'],
    ['heimdall', '--config', '/dev/null', 'uninstall', '--yes'],
    ['heimdall', 'mcp', 'restore', 'claude', '--yes'],
    ['sub', 'restore', 'claude'],
    ['heimdall', 'guard', 'uninstall'],
    ['heimdall', 'init', 'claude', '--yes'],
  ]
  for (const [bin = '', ...args] of refused) {
    const { code, stderr } = await host.run(bin, args)
    expect({ bin, args, code }, stderr).toEqual({ bin, args, code: 4 })
    expect(stderr).toContain('run by Claude Code')
  }
  // Nor by a script, of which no hook can say what it does.
  const script = join(project.home, 'tidy.sh')
  writeFileSync(script, `${launcher('heimdall').join(' ')} uninstall --yes\n`)
  expect(await host.program(['bash', script], { env: { CLAUDECODE: '' } })).toMatchObject({ code: 4 })
  expect(files.map((file) => project.read(`../home/${file}`))).toEqual(before)
  expect(existsSync(project.path('.git/hooks/pre-commit'))).toBe(true)
  // What only looks is anybody's, and a program without an agent above it is no agent.
  expect(await host.run('heimdall', ['uninstall', '--dry-run'])).toMatchObject({ code: 0 })
  expect(await project.run('heimdall', ['uninstall', '--yes'])).toMatchObject({ code: 0 })
})

test('a store that cannot be read opens no way past the guards', async () => {
  const project = temporaryProject()
  const host = playHost(project)
  await host.hook('SessionStart')
  project.write('.git/heimdall/coordination.db', 'no database at all, and longer than the head of one'.repeat(100))
  const asked = async (command: string): Promise<boolean> => {
    const { stdout } = await host.hook('PreToolUse', { tool_name: 'Bash', tool_input: { command } })
    return stdout.includes('"deny"')
  }
  expect(await asked('echo x > free.txt')).toBe(false)
  expect(await asked('git commit --no-verif -m x')).toBe(true)
  expect(await asked('rm .git/hooks/pre-commit')).toBe(true)
  expect(await asked('echo "[core] hooksPath = x" >> .git/config')).toBe(true)
})
