// Whatever words lead there, an agent does not take the guards out: the commands that do ask who is above them, and hooks say no where claims cannot even be read.
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { playHost } from '../support/played-host.ts'
import { launcher } from '../support/programs.ts'
import { temporaryProject } from '../support/project.ts'

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
    ['heimdall', 'restore', 'claude', '--yes'],
    ['sub', 'restore', 'claude'],
    ['heimdall', 'guard', 'uninstall'],
    ['heimdall', 'init', 'claude', '--yes'],
  ]
  for (const [bin = '', ...args] of refused) {
    const { code, stderr } = await host.run(bin, args)
    expect({ bin, args, code }, stderr).toEqual({ bin, args, code: 4 })
    expect(stderr).toContain('Claude Code runs it')
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
