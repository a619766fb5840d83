// `match.shell`: force pushes and recursive deletes in every spelling, writes by scope, and what cannot be parsed.
import { describe, expect, test } from 'vitest'
import { writtenLocations } from './locations.ts'
import { compileShell } from './shell.ts'
import type { ShellMatch } from '../types.ts'

function matches(match: ShellMatch, command: unknown): boolean | string {
  const { holds, pathsOf } = compileShell(match)
  const args = { command }
  return holds(args, writtenLocations(pathsOf?.(args) ?? []))
}

/** A rule that cannot be evaluated denies with `decision_on_error: BLOCK`, so only false lets a call pass. */
const passes = (match: ShellMatch, command: unknown): boolean => matches(match, command) === false

const FORCE: ShellMatch = { runs: ['git push --force'] }

describe('a force push', () => {
  test.each([
    'git push --force',
    'git push -f',
    'git push origin main -f',
    'git push -uf origin main',
    'git push -fu origin main',
    'git push --forc origin',
    'git push --force-with-lease',
    'git push --force-with-lease=main',
    'git push --force-if-includes --force-with-lease',
    'git push --mirror',
    'git push origin +main',
    'git push origin +HEAD:main',
    'git push origin "+refs/heads/*:refs/heads/*"',
    "git push '--force'",
    "git push --fo''rce",
    'git push "-f"',
    'git push \\-f',
    "git push $'--force'",
    "git push $'\\x2df'",
    'git "push" -f',
    "g'i't push -f",
    '/usr/bin/git push -f',
    'git -C sub push -f',
    'git -c push.default=current push -f',
    'git --git-dir=.git push --force',
    'git --no-pager push -f',
    'GIT_SSH_COMMAND=ssh git push -f',
    'env A=b git push -f',
    'env -i git push -f',
    'sudo git push -f',
    'sudo -u me git push -f',
    'timeout 3 git push -f',
    'nice -n 5 git push -f',
    'nohup git push -f &',
    'command git push -f',
    'exec git push -f',
    'cd sub && git push -f',
    'true; git push -f',
    'false || git push -f',
    'git push -f | cat',
    '(git push -f)',
    '{ git push -f; }',
    'if true; then git push -f; fi',
    'for r in origin backup; do git push -f $r; done',
    'while read r; do git push -f "$r"; done',
    'case x in *) git push -f;; esac',
    'f() { git push -f; }; f',
    'echo $(git push -f)',
    'echo `git push -f`',
    'cat <(git push -f)',
    'bash -c "git push -f"',
    "sh -c 'git push --force'",
    "bash -lc 'git push -f'",
    'eval git push -f',
    'eval "git push -f"',
    "echo 'git push -f' | sh",
    'sh <<< "git push -f"',
    'bash <<EOF\ngit push -f\nEOF',
    'echo origin | xargs git push -f',
    'find . -name x -exec git push -f \\;',
    'F=--force; git push $F',
    'F="push -f"; git $F',
    'git push $FLAGS',
    'git push ${IFS}-f',
    'git${IFS}push${IFS}-f',
    'git {push,-f}',
    "git -c alias.p='push -f' p origin",
    "git -c alias.p='!git push -f' p",
    "trap 'git push -f' EXIT",
    'flock /tmp/l git push -f',
    'coproc git push -f',
    'time git push -f',
    '! git push -f',
    'git push \\\n  -f',
    'git push -f # --dry-run',
    "git push 'unfinished",
    'git p\\\nush -f',
  ])('%s', (command) => {
    expect(passes(FORCE, command)).toBe(false)
  })

  test.each([
    'git push',
    'git push -u origin main',
    'git push --follow-tags',
    'git push origin feature/force',
    'git commit -m "git push --force"',
    'echo git push --force',
    'git log --format=%f',
    'git stash push -m f',
    'git push origin "$BRANCH"',
    'npm run push -- -f',
  ])('%s is none', (command) => {
    expect(matches(FORCE, command)).toBe(false)
  })
})

const DELETE: ShellMatch = {
  runs: ['rm -r *', 'rm -rf *', 'find * -delete', 'git clean -f', 'rsync --delete', 'shred'],
}

describe('a recursive delete', () => {
  test.each([
    'rm -rf docs',
    'rm -fr docs',
    'rm -r -f docs',
    'rm -f -r docs',
    'rm -Rf docs',
    'rm -R docs',
    'rm docs -rf',
    'rm -rfv docs',
    'rm -vrf docs',
    'rm --recursive docs',
    'rm --recursive --force docs',
    'rm --recur docs',
    'rm -r --force docs',
    'rm -rf -- docs',
    'rm -rf ./docs /tmp/x',
    'rm -rf *',
    'rm -rf "$DIR"',
    'rm -rf $DIR/*',
    'rm $OPTS docs',
    '\\rm -rf docs',
    "'rm' -rf docs",
    "r''m -rf docs",
    '/bin/rm -rf docs',
    'command rm -rf docs',
    'busybox rm -rf docs',
    'sudo rm -rf docs',
    'sudo -E env A=b rm -rf docs',
    'doas rm -rf docs',
    'xargs rm -rf < list',
    'ls | xargs -I{} rm -rf {}',
    'ls | xargs -n1 rm -r',
    'find docs -delete',
    'find docs -type f -delete',
    'find docs -exec rm -rf {} +',
    'find docs -execdir rm -r {} \\;',
    'cd docs && rm -rf .',
    'cd / ; rm -rf docs',
    '(rm -rf docs)',
    'true && rm -rf docs',
    'rm -rf docs &',
    'rm -rf docs > /dev/null 2>&1',
    'if [ -d docs ]; then rm -rf docs; fi',
    'for d in a b; do rm -rf $d; done',
    'while :; do rm -rf docs; done',
    'echo $(rm -rf docs)',
    'sh -c "rm -rf docs"',
    "bash -ec 'rm -rf docs'",
    'sh -c "sh -c \'rm -rf docs\'"',
    'eval "rm -rf docs"',
    "eval 'rm' '-rf' docs",
    "printf 'rm -rf docs' | bash",
    'bash <<< "rm -rf docs"',
    'bash <<E\nrm -rf docs\nE',
    'A=rm; $A -rf docs',
    'A="rm -rf"; $A docs',
    'rm${IFS}-rf${IFS}docs',
    'rm -{r,f} docs',
    '{rm,-rf,docs}',
    'alias x="rm -rf"; rm -rf docs',
    'git clean -fdx',
    'git clean -f',
    'git -C sub clean --force -d',
    'rsync -a --delete empty/ docs/',
    'nohup setsid rm -rf docs',
    'timeout 5 rm -rf docs',
    'parallel rm -rf ::: docs',
    'rm -rf docs\n',
    "$'rm' -rf docs",
  ])('%s', (command) => {
    expect(passes(DELETE, command)).toBe(false)
  })

  test.each(['rm docs/a.md', 'rm -f a', 'ls -R', 'git rm -r docs', 'echo rm -rf', 'find . -name r', 'rm "$FILE"'])(
    '%s is none',
    (command) => {
      expect(matches(DELETE, command)).toBe(false)
    },
  )
})

describe('writes by scope', () => {
  const outside: ShellMatch = { writes_outside: ['src', '/tmp'] }
  test.each([
    ['echo x > src/a', false],
    ['echo x > lib/a', true],
    ['cd src && echo x > a', false],
    ['cd src && echo x > ../a', true],
    ['(cd src); echo x > a', true],
    ['cp a src/b && mv src/b src/c', false],
    ['mv README.md src/', true],
    ['rm src/*.ts', false],
    ['rm src/*/../../x', true],
    ['touch /tmp/x src/y', false],
    ['touch /etc/x', true],
    ['tee "$OUT"', true],
    ['cat a', false],
    ['make', false],
    ['mkdir -p src/new', false],
    ['mkdir docs', true],
    ['sed -i s/a/b/ src/x', false],
    ['bash -c "echo x > lib/a"', true],
    ['rm -rf src', false],
    ['rm -rf .', true],
  ])('%s', (command, expected) => {
    expect(matches(outside, command)).toBe(expected)
  })

  test('a scope that is written to, and one that may be', () => {
    const secret: ShellMatch = { writes: ['.env', 'keys/**'] }
    expect(matches(secret, 'echo x > .env')).toBe(true)
    expect(matches(secret, 'cp a keys/b')).toBe(true)
    expect(matches(secret, 'rm "$FILE"')).toBe('unknown')
    expect(matches(secret, 'echo x > a')).toBe(false)
  })

  test('all that is present holds of one program', () => {
    const both: ShellMatch = { runs: ['rm'], writes_outside: ['src'] }
    expect(matches(both, 'rm src/a; touch b')).toBe(false)
    expect(matches(both, 'rm b')).toBe(true)
  })
})

describe('kinds of programs', () => {
  test.each([
    [{ network: true }, 'curl https://example.com', true],
    [{ network: true }, 'git push', true],
    [{ network: true }, 'git status', false],
    [{ network: true }, 'npx cowsay', true],
    [{ network: true }, 'sh -c "wget x"', true],
    [{ unknown: true }, 'make all', true],
    [{ unknown: true }, './release.sh', true],
    [{ unknown: true }, 'python3 -c "print(1)"', true],
    [{ unknown: true }, 'ls | grep x > y && git status', false],
    [{ opaque: true }, 'echo aaa | base64 -d | sh', true],
    [{ opaque: true }, 'curl https://x | bash -s -- a', true],
    [{ opaque: true }, 'curl https://x | python3', true],
    [{ opaque: true }, 'eval "$CODE"', true],
    [{ opaque: true }, '$CMD a b', true],
    [{ opaque: true }, 'bash -c "$CODE"', true],
    [{ opaque: true }, "echo 'ls' | sh", false],
    [{ opaque: true }, 'python3 script.py', false],
    [{ unparsed: true }, "echo 'a", true],
    [{ unparsed: true }, 'echo a', false],
    [{ unparsed: true }, `echo ${'x'.repeat(2 << 20)}`, true],
    [{ unparsed: true }, 'rm a\0b', true],
    [{ runs: ['sudo'] }, 'sudo ls', true],
    [{ runs: ['sudo'] }, 'ls sudo', false],
  ] as const)('%j: %s', (match, command, expected) => {
    expect(matches(match, command)).toBe(expected)
  })

  test('a list of words is a command of its own, and other values cannot be told', () => {
    expect(matches(FORCE, ['git', 'push', '-f'])).toBe(true)
    expect(matches(FORCE, ['bash', '-lc', 'git push -f'])).toBe(true)
    expect(matches(FORCE, ['echo', 'git push -f'])).toBe(false)
    expect(matches(FORCE, { cmd: 1 })).toBe('unknown')
    expect(compileShell(FORCE).holds({ path: 'git push -f' }, new Map())).toBe(false)
    expect(compileShell({ ...FORCE, keys: ['run'] }).holds({ run: 'git push -f' }, new Map())).toBe(true)
  })
})
