// Commands that throw away work without naming it were seen when it was gone: git says before what they would take.
import { expect, test } from 'vitest'
import { playHost } from '../support/played-host.ts'
import { temporaryProject } from '../support/project.ts'

test('what another holds and has not committed is not reset, stashed, cleaned or written over', async () => {
  const project = temporaryProject()
  for (const path of ['src/held.ts', 'src/own.ts']) project.write(path, 'one\n')
  project.git('add', '.')
  project.git('commit', '-qm', 'files')
  await project.run('heimdall', ['agent', 'register', '--name', 'amber-otter', '--role', 'backend'])
  const claim = ['agent', 'reserve', '--agent', 'amber-otter', '--bead', 'T-9', '--scope']
  for (const scope of ['src/held.ts', 'src/new.ts']) await project.run('heimdall', [...claim, scope])
  const host = playHost(project)
  const isDenied = async (command: string): Promise<boolean> => {
    const { stdout } = await host.hook('PreToolUse', { tool_name: 'Bash', tool_input: { command } })
    return stdout.includes('"deny"')
  }
  const taking = [
    'git reset --hard',
    'git reset --har HEAD',
    'git checkout -f',
    'git checkout .',
    'git checkout src',
    'git restore src',
    'git stash',
    'git stash -u',
    'cd src && git stash push',
  ]
  // As long as nothing would be lost, nobody is in the way.
  project.write('src/own.ts', 'two\n')
  for (const command of [...taking, 'git clean -fd'])
    expect({ command, denied: await isDenied(command) }).toEqual({ command, denied: false })
  project.write('src/held.ts', 'work of amber-otter\n')
  for (const command of taking) expect({ command, denied: await isDenied(command) }).toEqual({ command, denied: true })
  expect(await isDenied('git clean -fd')).toBe(false)
  project.write('src/new.ts', 'work of amber-otter\n')
  expect(await isDenied('git clean -fd')).toBe(true)
  for (const command of [
    'sort -o src/held.ts src/own.ts',
    'sort --outp=src/held.ts src/own.ts',
    'F=src/held.ts; echo x > "$F"',
    'env -S "rm src/held.ts"',
    'npx prettier --write src/held.ts',
    'echo "rm src/held.ts" | sh',
    'rm src/{held,own}.ts',
  ])
    expect({ command, denied: await isDenied(command) }).toEqual({ command, denied: true })
})
