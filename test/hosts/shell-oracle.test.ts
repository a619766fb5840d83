// Bash is the judge of where a command line writes: what it changes has to be among what was said before it ran, and nothing else may be said.
import { execFileSync } from 'node:child_process'
import { cpSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readHook } from '../../src/hosts/hooks/hook-call.ts'
import { contains } from '../../src/paths.ts'
import { writtenPaths } from '../../src/spine/hooks/hook-place.ts'
import { pathsByGit } from '../../src/spine/hooks/paths-by-git.ts'
import { perFile } from '../support/cleanup.ts'
import { bareEnv } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { copyTo, type OracleEnding, type OracleRow, runRows, shareObjects } from '../support/oracle-rows.ts'

const FILES = ['a', 'b', 'src/a', 'src/b', 'src/lib/c', 'lib/old', 'spaced name/x']
const DIFF = '--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+patched\n'
/** Of `src/a`, by a path from the top on. */
const GIT_DIFF = `diff --git a/src/a b/src/a\n${DIFF.replaceAll('/a', '/src/a').replace('-a', '-src/a')}`

/** Nothing of the machine's own configuration of git takes part. */
const env = {
  ...bareEnv(),
  HOME: '/nonexistent',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_COMMITTER_NAME: 'x',
  GIT_COMMITTER_EMAIL: 'x@example.org',
  GIT_AUTHOR_NAME: 'x',
  GIT_AUTHOR_EMAIL: 'x@example.org',
}

function makeClean(at: string): void {
  for (const folder of ['src/lib', 'lib', 'spaced name', 'empty']) mkdirSync(join(at, folder), { recursive: true })
  for (const path of FILES) writeFileSync(join(at, path), `${path}\n`)
  writeFileSync(join(at, 'fix.diff'), DIFF)
  writeFileSync(join(at, 'src/fix.diff'), DIFF.replace('-a', '-src/a'))
  writeFileSync(join(at, 'git.diff'), GIT_DIFF)
  const git = (...args: string[]): void => void execFileSync('git', args, { cwd: at, env, stdio: 'ignore' })
  git('init', '-q', '--template=')
  git('add', '-A')
  git('commit', '-qm', 'x')
}

/** With work that is not committed: changed, staged, new, ignored, put away. */
function makeDirty(at: string): void {
  const git = (...args: string[]): void => void execFileSync('git', args, { cwd: at, env, stdio: 'ignore' })
  git('branch', 'before')
  writeFileSync(join(at, 'lib/later'), 'later\n')
  git('add', 'lib/later')
  git('commit', '-qm', 'later')
  writeFileSync(join(at, 'src/lib/c'), 'put away\n')
  git('stash')
  writeFileSync(join(at, '.gitignore'), 'ignored\n')
  git('add', '.gitignore')
  git('commit', '-qm', 'ignore')
  writeFileSync(join(at, 'a'), 'changed\n')
  writeFileSync(join(at, 'src/b'), 'staged\n')
  git('add', 'src/b')
  for (const path of ['new', 'ignored', 'empty/n\t"e\\w', 'empty/né']) writeFileSync(join(at, path), 'new\n')
}

/** Every file and link, with what it holds; folders by their names alone. */
function contentOf(root: string, below = ''): Map<string, string> {
  const found = new Map<string, string>()
  for (const name of readdirSync(join(root, below))) {
    if (name === '.git') continue
    const path = below === '' ? name : `${below}/${name}`
    const stats = lstatSync(join(root, path))
    if (stats.isDirectory()) for (const [inner, held] of contentOf(root, path)) found.set(inner, held)
    else
      found.set(
        path,
        stats.isSymbolicLink() ? `-> ${readlinkSync(join(root, path))}` : readFileSync(join(root, path), 'latin1'),
      )
  }
  return found
}

const COMMANDS = [
  '(cd src; rm a)',
  '(cd src && rm a) && rm b',
  'cd src && rm a & wait; echo x > b',
  'cp -t lib a b',
  'cp --target-directory=lib a',
  'cp a lib',
  'cp a new',
  'cp -r src lib',
  'cp -T a b',
  'mv a lib',
  'mv -t lib a b',
  'mv a new',
  'git -C src mv a z',
  'git -C src rm -q a',
  'echo x > src/a; git -C src checkout -q -- a; echo y > src/a',
  'timeout 3 rm a',
  'timeout -k 1 3 rm a',
  'env X=1 rm a',
  'env -C src rm a',
  'nice -n 3 rm a',
  'curl -s --output f "file://$PWD/a"',
  'curl -sof "file://$PWD/a"',
  'curl -s -o lib/f "file://$PWD/a"',
  'curl -s --output-dir lib -o f "file://$PWD/a"',
  'echo x | tee -a a b > /dev/null',
  'sed -i.bak s/a/z/ a',
  'sed -i -e s/a/z/ -e s/b/y/ a b',
  "sed -ne s/a/z/ a; sed -i 's/a/z/' 'spaced name/x' src/a",
  "perl -pi -e 's/a/z/' a",
  'dd if=a of=f status=none',
  'install -m 600 a lib/f',
  'install a b lib',
  'install -D a new/deep/f',
  'ln -s a f',
  'ln -s ../b lib',
  'ln -s ../other',
  'truncate -s 0 a',
  'truncate --size=9 a f',
  'echo x >| a',
  'echo x &> a',
  'echo x &>> a',
  'ls nothing >& a; ls nothing 2> b; true',
  "cat > f <<'EOF'\nrm -rf src\nEOF",
  'cat <<-EOF > f\n\tx > y\n\tEOF',
  'cat <<A <<B > f\nrm x\nA\nrm y\nB',
  "bash -c 'cd src && echo x > a'",
  'bash -c "bash -c \'rm a\'"',
  'bash <<EOF\nrm a\nEOF',
  "sh <<< 'rm a'",
  "eval 'rm a'",
  '{ cd src; rm a; }; rm b',
  'if [[ a < b ]]; then echo x > f; fi',
  '(( 3 > 2 )) && echo x > f',
  'for i in 1; do echo x > f; done',
  'patch -s -p1 < fix.diff',
  'patch -s -p1 -i fix.diff',
  'git apply fix.diff',
  `git apply <<'EOF'\n${DIFF}EOF`,
  `patch -s -p1 <<'EOF'\n${DIFF}EOF`,
  'cp a f && patch -s f < fix.diff',
  'cd src && patch -s -p1 < fix.diff',
  'patch -s -p1 -d src < src/fix.diff',
  'patch -s -d src < git.diff',
  'cd src && git apply fix.diff',
  'cd src && git apply ../git.diff',
  'git apply --directory=src src/fix.diff',
  'git apply git.diff',
  'git mv a lib',
  'git mv a lib/',
  'git mv a b lib',
  'echo x > a; git checkout -q .; echo y > a',
  'cp --parents src/a empty',
  "sed -Ei 's/(a)/z/' a",
  'A=$(ls) rm a',
  `echo "$(echo "x > y")" 'x > y' "\`echo "x > y"\`" > f`,
  `echo "$(cat <<'EOF'\nsay "don't > do"; (see a)\nEOF\n)" > f && rm a`,
  "echo $'it\\'s > x' > f",
  'X=$(cd src && rm a); rm b',
  'for ((i = 0; i > -1 && i < 1; i++)); do rm a; done',
  'rm -f src/?',
  'touch -d yesterday f',
  'sort -r -o a a b',
  'sort a b --outp=f',
  'uniq a f',
  'shuf -o f a',
  'gzip a',
  'tar cf f a',
  'tar -czf f.tgz a src',
  'truncate --siz=9 f',
  'cp --target-dir=lib a b',
  'sed --in-pl -e s/a/z/ a',
  'F=src/a; echo x > "$F"',
  'export F=a G=b; rm $F ${G}',
  'rm {a,b} src/{a,b}',
  'touch f{1..3}',
  "rm $'a' $'src\\x2fb'",
  'rm "$PWD/a"',
  'env -S "rm a b"',
  'env -S "X=1 rm" a',
  'echo rm a | bash',
  "printf 'rm a' | sh -s",
  'cat <<EOF | sh\nrm a\nEOF',
  'bash -c "cd $PWD/src && rm a"',
  'echo `rm a` > f',
  'cat <<EOF > f\n$(rm a)\nEOF',
  "trap 'rm a' EXIT",
  'flock b rm a',
  'command rm a',
  'git checkout HEAD~0 a 2>&1; echo x > a',
]

/** Where there is work that is not committed. */
const COMMANDS_ON_WORK = [
  'git reset -q --hard',
  'git reset --har -q before',
  'git -C src reset -q --hard HEAD~1',
  'git checkout -qf',
  'git checkout -qf before',
  'git switch -q --discard-changes before',
  'git checkout a',
  'cd src && git checkout -q HEAD b',
  'git stash',
  'git stash push -q -u',
  'git stash push -q -- a',
  'git stash -q --staged',
  'git stash pop -q',
  'git reset -q --hard && git stash apply -q',
  'git clean -fd',
  'git clean -f',
  'git clean -qfdx',
  'git clean -fX',
  'cd empty && git clean -qf .',
  'git clean -fd -e new',
  'git restore .',
  'git checkout .',
]

interface Outcome extends OracleEnding {
  /** Paths that were named before the command ran, and those that it changed. */
  readonly said: readonly Said[]
  readonly changed: readonly string[]
}

const outcomes = perFile(async () => {
  const place = temporaryFolder()
  const [clean, dirty] = [join(place, 'clean'), join(place, 'dirty')]
  makeClean(clean)
  cpSync(clean, dirty, { recursive: true })
  makeDirty(dirty)
  return {
    clean: await outcomesOf(COMMANDS, clean, join(place, 'clean-rows')),
    dirty: await outcomesOf(COMMANDS_ON_WORK, dirty, join(place, 'dirty-rows')),
  }
})

async function outcomesOf(
  commands: readonly string[],
  template: string,
  folder: string,
): Promise<ReadonlyMap<string, Outcome>> {
  shareObjects(template, `${template}-objects`)
  const rows = commands.map((command, index) => ({ command, cwd: copyTo(join(folder, String(index)), template) }))
  const said = rows.map(foreseen)
  const before = contentOf(template)
  const endings = await runRows(rows, env)
  return new Map(
    rows.map(({ command, cwd }, index) => {
      const after = contentOf(cwd)
      const paths = [...new Set([...before.keys(), ...after.keys()])]
      const changed = paths.filter((path) => before.get(path) !== after.get(path))
      return [command, { ...(endings[index] as OracleEnding), said: said[index] ?? [], changed }]
    }),
  )
}

test.each(COMMANDS)('%s', (command) => {
  expectForeseen(outcomes().clean.get(command))
})

test.each(COMMANDS_ON_WORK)('with work that is not committed, %s', (command) => {
  expectForeseen(outcomes().dirty.get(command))
})

interface Said {
  readonly path: string
  readonly isPattern: boolean
}

function foreseen({ command, cwd }: OracleRow): Said[] {
  const payload = { hook_event_name: 'PreToolUse', cwd, tool_name: 'Bash', tool_input: { command } }
  const read = readHook('claude', JSON.stringify(payload))
  const tool = 'call' in read ? read.call.tool : undefined
  if (tool === undefined) throw new Error('no tool was read')
  return [...writtenPaths(tool, cwd, env), ...pathsByGit(tool, cwd, env)].map(({ path, isPattern }) => ({
    path: path.slice(cwd.length + 1),
    isPattern,
  }))
}

function expectForeseen(outcome: Outcome | undefined): void {
  const { said = [], changed = [], status, stderr } = outcome ?? {}
  expect(changed, stderr).not.toEqual([])
  // A backup that `sed` keeps and a failed hunk's rejects are nobody's work.
  const unsaid = changed.filter((path) => !/\.(?:bak|rej|orig)$/.test(path) && !said.some((one) => covers(one, path)))
  expect({ unsaid, status }).toEqual({ unsaid: [], status: 0 })
  expect(said.filter((one) => !changed.some((path) => covers(one, path)))).toEqual([])
}

const covers = ({ path, isPattern }: Said, changed: string): boolean =>
  isPattern ? changed.startsWith(path.slice(0, path.indexOf('?'))) : contains(`/${path}`, `/${changed}`)
