// Rules that look into arguments, in the path of real calls: nested values, texts, and paths with links that lead elsewhere.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ADAPTERS, bundle, checkBooks, deny, ofType, rule, shimOver, tool } from '../support/shim-client.ts'

const code = (answer: Record<string, any>): number => (answer['error']?.code as number | undefined) ?? 0 // oxlint-disable-line typescript/no-explicit-any -- an answer has either shape

describe.each(ADAPTERS)('over %s', (adapter) => {
  const startShim = shimOver(adapter)

  test('a force push is found as a line, as words, and deep inside', async () => {
    const shim = startShim({
      policy: bundle([
        deny('no-force', { args: { text: { regex: ['\\bpush\\b.*\\s(--force|-f)\\b'], ignore_case: true } } }),
        deny('no-token', { args: { at: { 'env.GITHUB_TOKEN': { glob: '*' } } } }),
      ]),
    })
    for (const args of [
      { command: 'git push --force' },
      { command: 'GIT PUSH origin main --FORCE' },
      { argv: ['git', 'push', '-f'] },
      { steps: [{ run: { line: 'git push origin -f' } }] },
      { command: 'ls', env: { GITHUB_TOKEN: 'x' } },
    ])
      expect(code(await shim.call('shell', args)), JSON.stringify(args)).toBe(-32_081)
    expect(code(await shim.call('shell', { command: 'git push', env: { HOME: '/' } }))).toBe(0)
    const { events } = await shim.end()
    expect(checkBooks(events)).toEqual([])
  })

  test('what is below src cannot be left by .., by a link, or by another spelling', async () => {
    const shim = startShim({
      policy: bundle(
        [
          rule('inside', 'allow', { ...tool('write'), args: { path_within: ['src'] } }, {}),
          rule('pathless', 'allow', tool('echo'), {}),
        ],
        { defaults: { decision_on_no_match: 'BLOCK' } },
      ),
    })
    // The server runs in the folder of the policy.
    const project = dirname(shim.policyPath)
    mkdirSync(join(project, 'src/deep'), { recursive: true })
    mkdirSync(join(project, 'other'))
    writeFileSync(join(project, 'src/a.ts'), '')
    symlinkSync('/etc', join(project, 'src/etc'))
    symlinkSync('../other', join(project, 'src/out'))
    symlinkSync('nowhere-yet/../../../other', join(project, 'src/dangling'))
    symlinkSync('loop', join(project, 'src/loop'))
    symlinkSync('src', join(project, 'alias'))
    const inside = ['src/a.ts', './src/new.ts', join(project, 'src/a.ts'), 'alias/a.ts', 'src/deep/../a.ts', 'src']
    for (const path of inside) expect(code(await shim.call('write', { path })), path).toBe(0)
    const outside = [
      '../x',
      'src/../x',
      'src/etc/passwd',
      'src/out/x',
      // The system goes up from where the link leads, a program that tidies the path first does not.
      'src/out/../x',
      'src/dangling/x',
      'src/loop/x',
      'src/deep/..\\..\\..\\x',
      'src/%2e%2e/%2e%2e/x',
      '~/x',
      '~root/x',
      'C:\\x',
      'src/a.ts\u0000/../../x',
      'file:///etc/passwd',
      'file://host/src/a.ts',
      '/etc/passwd',
    ]
    for (const path of outside) expect(code(await shim.call('write', { path })), path).toBe(-32_081)
    expect(code(await shim.call('write', { path: 'src/a.ts', files: [{ path: 'b' }] }))).toBe(-32_081)
    expect(code(await shim.call('write', { Path: 'other/x', content: 'x' }))).toBe(-32_081)
    expect(code(await shim.call('write', { content: 'no path at all' }))).toBe(-32_081)
    const { events } = await shim.end()
    expect(ofType(events, 'tool_call_decision').filter(({ decision }) => decision.action === 'ALLOW').length).toBe(
      inside.length,
    )
    expect(checkBooks(events)).toEqual([])
  })
})
