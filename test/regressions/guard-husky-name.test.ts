// Husky's hooks look for what to run by their own name: set aside under another one, they ran nothing and said nothing.
import { chmodSync } from 'node:fs'
import { expect, test } from 'vitest'
import { guardedRepository } from '../guard/repository.ts'
import { temporaryFolder, type TemporaryProject } from '../support/project.ts'

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

for (const shebang of ['#!/usr/bin/env sh', '#!/bin/sh -e', '#! /bin/sh', '#!/usr/bin/env bash'])
  test(`a person's hooks run under husky, with arguments and input (${shebang})`, async () => {
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

test('a hook in another language is run as it is', async () => {
  const repo = await guardedRepository((project) => {
    const text = `#!${process.execPath}\nrequire('node:fs').appendFileSync('hooks.log', 'node ' + process.argv.slice(2).length)\n`
    chmodSync(project.write('.git/hooks/prepare-commit-msg', text), 0o755)
  })
  expect(repo.commit({}, 'docs/a.md').code).toBe(0)
  expect(repo.project.read('hooks.log')).toBe('node 2')
})
