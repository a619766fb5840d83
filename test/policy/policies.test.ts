// The policies that come with the package: they compile, nothing in them is dead, their cases pass, and the page shows them as they are.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runLauncher } from '../support/in-process.ts'
import { expect, test } from 'vitest'

const FOLDER = 'policies'
const names = readdirSync(FOLDER).filter((name) => name.endsWith('.yaml') && !name.endsWith('.cases.yaml'))

test.each(names)('%s', async (name) => {
  const lint = await runLauncher('heimdall', ['policy', 'lint', '--strict', join(FOLDER, name)])
  expect(lint).toMatchObject({ code: 0, stderr: '' })
  const cases = join(FOLDER, name.replace(/\.yaml$/, '.cases.yaml'))
  const { code, stdout } = await runLauncher('heimdall', ['policy', 'test', cases])
  expect(stdout).not.toContain('FAILED')
  expect(code).toBe(0)
})

test('the page shows the policies as they are tested', () => {
  const page = readFileSync('docs/policy.md', 'utf8')
  const shown = [...page.matchAll(/```yaml\n([^]*?)```/g)].map(([, text]) => text)
  expect(shown[0]).toBe(readFileSync(join(FOLDER, 'careful.yaml'), 'utf8'))
  for (const name of names) expect(shown).toContain(readFileSync(join(FOLDER, name), 'utf8'))
})
