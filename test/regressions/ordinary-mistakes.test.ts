// Stack traces and bare names of system errors for what people mistype: a port that is none, a folder that is not there, a policy that nobody has written yet.
import { expect, test } from 'vitest'
import { runLauncher } from '../support/in-process.ts'
import { temporaryProject } from '../support/project.ts'

const NO_FOLDER = /^error: there is no folder \/no\/such to write to\nhint: /

test.each([
  ['heimdall up --port 65536', 2, /^error: --port takes a whole number of at most 65535, got "65536"\n/],
  ['hm export a /no/such/x.cast', 2, NO_FOLDER],
  ['hm record a /no/such/x.cast', 2, NO_FOLDER],
  ['hm run --detach --record /no/such/x.cast -- true', 2, NO_FOLDER],
  ['heimdall fleet export /no/such/x', 2, NO_FOLDER],
  [
    'heimdall run --policy careful.yaml -- true',
    8,
    /careful\.yaml cannot be read \(ENOENT\)\nhint: heimdall policy init --from careful /,
  ],
  ['heimdall claim tkae x', 2, /^error: .*\nhint: did you mean heimdall claim take/],
] as const)('%s: one line of what was seen, and one of what to do', async (line, code, words) => {
  const project = temporaryProject()
  const [name = '', ...args] = line.split(' ')
  const ended = await runLauncher(name, [...args], { cwd: project.root, env: project.env })
  expect(ended).toMatchObject({ code, stdout: '' })
  expect(ended.stderr).toMatch(words)
  expect(ended.stderr).not.toMatch(/^ {4}at /m)
})

test('a policy in place of its cases is told from broken cases, and the cases are named', async () => {
  const project = temporaryProject()
  await project.run('heimdall', ['policy', 'init', '--from', 'careful', '--out', 'careful.yaml'])
  const tried = () => project.run('heimdall', ['policy', 'test', 'careful.yaml'])
  const words = 'error: careful.yaml is a policy: its cases are in a file of their own\nhint: '
  expect((await tried()).stderr).toBe(`${words}heimdall policy test careful.cases.yaml\n`)
  expect((await project.run('heimdall', ['policy', 'test', 'careful.cases.yaml'])).code).toBe(0)
  project.git('clean', '--quiet', '--force', 'careful.cases.yaml')
  expect((await tried()).stderr).toContain(`${words}write them to careful.cases.yaml, with a line policy: careful.yaml`)
})
