// Scopes parsed before: the disk is asked again, so no change of it is missed.
import { lstatSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { KnownScopes } from '../../src/coordination/claims/known-scopes.ts'
import { scopeContext } from '../../src/coordination/claims/lookup.ts'
import { KNOWN_SCOPES_MAX } from '../../src/limits.ts'
import { findProject } from '../../src/paths.ts'
import { parseScopes, type ScopeContext } from '../../src/scopes/scope.ts'
import { temporaryFolder, temporaryProject } from '../support/project.ts'
import { scaled } from '../support/scale.ts'

const WORDS = ['a', 'a/b', 'a/*.ts', 'a/**', '[id]/x', 'a/{b,c}', './a/b/', 'a#f', 'link/b']

/** What parsing comes to: scopes, or the code that it is refused with. */
function outcome(parse: () => unknown): unknown {
  try {
    return parse()
  } catch (error) {
    return (error as { code?: string }).code
  }
}

test('whatever the disk becomes, the scopes are those of a fresh parse', () => {
  const outside = temporaryFolder()
  const change = fc.record({
    name: fc.constantFrom('a', 'a/b', '[id]', 'a/c', 'link'),
    to: fc.constantFrom('nothing', 'file', 'folder', 'link inside', 'link outside'),
  })
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
      const root = temporaryFolder()
      const known = new KnownScopes()
      for (const { name, to } of changes) {
        const path = join(root, name)
        const parent = join(path, '..')
        // What is no real folder makes room for one.
        if (lstatSync(parent, { throwIfNoEntry: false })?.isDirectory() === false) rmSync(parent)
        mkdirSync(parent, { recursive: true })
        rmSync(path, { recursive: true, force: true })
        if (to === 'file') writeFileSync(path, '')
        if (to === 'folder') mkdirSync(path)
        if (to === 'link inside') symlinkSync(join(root, 'elsewhere'), path)
        if (to === 'link outside') symlinkSync(outside, path)
        for (const word of WORDS) {
          const context = scopeContext(findProject(root, {}), root, true)
          expect(outcome(() => known.parse([word], context))).toEqual(outcome(() => parseScopes([word], context)))
        }
      }
    }),
    { numRuns: scaled(15, 300) },
  )
})

test('another folder, another rule of case, another worktree: nothing known applies', () => {
  const project = temporaryProject()
  project.git('worktree', 'add', '-q', '../linked')
  const linked = join(project.root, '../linked')
  project.write('src/A.ts', '')
  const known = new KnownScopes()
  const context = scopeContext(findProject(project.root, {}), project.root, true)
  const contexts: ScopeContext[] = [
    context,
    { ...context, cwd: join(project.root, 'src') },
    { ...context, caseSensitive: false },
    { ...context, otherRoots: [project.root] },
  ]
  for (const round of [1, 2])
    for (const place of contexts)
      for (const word of ['A.ts', `${linked}/src/A.ts`])
        expect([round, outcome(() => known.parse([word], place))]).toEqual([
          round,
          outcome(() => parseScopes([word], place)),
        ])
})

test('more scopes than are kept are parsed all the same', () => {
  const root = temporaryFolder()
  const known = new KnownScopes()
  const context = scopeContext(findProject(root, {}), root, true)
  for (let i = 0; i < KNOWN_SCOPES_MAX + 2; i += 1)
    expect(known.parse([`src/${i}`], context)).toMatchObject([{ canonical: `src/${i}` }])
})
