// Where a shell command surely writes, and that nothing is claimed to be known which is not.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { scaled } from '../../test/support/scale.ts'
import { patchPaths } from './patch-paths.ts'
import { shellWrites } from './writes.ts'
import type { WriteTarget } from './targets.ts'

/** `cwd:path`, with a star where the shell fills in a pattern. */
const targets = (command: string): string[] => shellWrites(command).targets.map(named)

/** `src …` where only the disk knows what in it, `lib or lib/a` where it depends on whether `lib` is a folder. */
const named = ({ path, cwd, isPattern, isSomewhere, into = [] }: WriteTarget): string =>
  [
    `${cwd === '' ? '' : `${cwd}:`}${path}${isPattern ? ' *' : ''}${isSomewhere === true ? ' …' : ''}`,
    ...into.map(named),
  ].join(' or ')

describe('unambiguous write targets of shell commands', () => {
  test.each<[string, string[]]>([
    ['echo x > a.txt', ['a.txt']],
    ['echo x >> "a b.txt" 2>&1', ['a b.txt']],
    ['make &> build.log', ['build.log']],
    ['cat x >| y', ['y']],
    ['echo x 2>/dev/null >&2', []],
    ['cat < in > out', ['out']],
    ["cat <<'EOF' > a.ts\nrm -rf src\nEOF\necho done", ['a.ts']],
    ['cat <<-EOF | tee -a a b\n\tx\n\tEOF', ['a', 'b']],
    ['sed -i s/a/b/ src/x.ts src/y.ts', ['src/x.ts', 'src/y.ts']],
    ["sed -i.bak -e 's/a/b/' src/x.ts", ['src/x.ts']],
    ["sed -n '1,3p' src/x.ts", []],
    ["perl -pi -e 's/a/b/' src/x.ts", ['src/x.ts']],
    ['mv a.ts lib/', ['a.ts', 'lib/a.ts']],
    ['mv a.ts lib', ['a.ts', 'lib or lib/a.ts']],
    ['cp -r a.ts b.ts lib', ['lib/a.ts', 'lib/b.ts']],
    ['rm -rf src/*.ts', ['src/*.ts *']],
    ['touch -d yesterday a && truncate -s 0 b', ['a', 'b']],
    ['dd if=/dev/zero of=disk.img bs=1', ['disk.img']],
    ['curl -s -o out.json https://example.org', ['out.json']],
    ['git restore src/a.ts', ['src/a.ts']],
    ['git restore --staged src/a.ts', []],
    ['git checkout main -- src/a.ts src/b.ts', ['src/a.ts', 'src/b.ts']],
    ['git checkout main', []],
    ['git rm a && git mv b c', ['a', 'b', 'c or c/b']],
    ['cd src && rm a.ts', ['src:a.ts']],
    ['(cd src; rm a.ts); rm b.ts', ['src:a.ts', 'b.ts']],
    ['(cd src && (cd lib; rm a); rm b) && rm c', ['src/lib:a', 'src:b', 'c']],
    ['cd src && rm a & rm b', ['src:a', 'b']],
    ['cd src | rm a; rm b', ['a', 'b']],
    ['cd src; cd -; rm a', []],
    ['cd -- src && > a', ['src:a']],
    ['cd "$DIR" && rm a.ts && rm /abs/b.ts', ['/abs/b.ts']],
    [`cd "$DIR" && bash -c 'rm a.ts; rm /abs/b.ts'`, ['/abs/b.ts']],
    ['FOO=1 sudo -n env touch a', ['a']],
    ['if true; then rm a; fi', ['a']],
    [`bash -lc 'cd lib && echo x > "y.ts"'`, ['lib:y.ts']],
    ['echo "$(rm a)" > b', ['a', 'b']],
    ['X=$(cd src && rm a) && rm b', ['src:a', 'b']],
    ['cd src && diff <(sort a | tee c) b', ['src:c']],
    // As Claude Code commits: quotes and here documents inside of what is substituted.
    [`git commit -m "$(cat <<'EOF'\nsay "don't > do"; (see a)\nEOF\n)" && rm a`, ['a']],
    ['echo "$(echo "x > y")" "${A:-"x > y"}" "`echo "x > y"`" > f', ['f']],
    ["X=$(case a in a) rm b;; esac) && echo $'it\\'s > x' $\"it's\" > f", ['b', 'f']],
    ['echo $((1 > 0)) $((2)) "$(( (3) >> 1 ))" $((ls) ) > f; for ((i = 0; i > n; i++)); do rm a; done', ['f', 'a']],
    ['A=$(ls) B="$C" rm a; env -i PATH=$PATH rm b', ['a', 'b']],
    ['sed -Ei s/a/b/ x', ['x']],
    ['git mv a lib/; git mv a lib; git mv a b lib', ['a', 'lib/a', 'a', 'lib or lib/a', 'a', 'b', 'lib/a', 'lib/b']],
    ['git checkout .; git checkout HEAD ./a; git checkout main; git checkout feature/x', ['.', './a']],
    ['cp --parents src/a lib', ['lib or lib/src/a']],
    ['echo x > "$OUT"; echo y > `name`; echo z > ${A}b', []],
    ['python - <<EOF\nopen("a","w")\nEOF', []],
    ["apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: src/a.ts\n@@\n-x\n+y\n*** End Patch\nEOF", ['src/a.ts']],
    ['ls | xargs rm', []],
    ['find . -name x -delete; find . -exec rm {} +', ['. …', '. …']],
    ['find src -type f -exec sed -i s/a/b/ {} + -exec touch done \\;', ['done']],
    ['ssh box rm a; scp a box:b; rsync -a src/ box:dst/', []],
    ['[[ a > b ]] && (( 3 > 2 )) || if [[ x < y ]]; then rm c; fi', ['c']],
    ['cat a |& tee b', ['b']],
    ['timeout -s KILL 3 rm a; sudo -u bob nice -n 5 env -u X -i Y=1 rm b', ['a', 'b']],
    ['env -C lib rm a', ['lib:a']],
    ['curl -sSLo a -D b https://example.org/x; curl -so- https://example.org', ['a', 'b']],
    ['curl -O https://example.org/d/x.tar?a=b', ['x.tar']],
    ['wget -qOa https://example.org; wget --output-document=b https://example.org', ['a', 'b']],
    ["sed -i '' 's/a/b/' src/x.ts", ['src/x.ts']],
    ["sed -ni.bak 's/a/b/p' a; sed --in-place=.bak -e p b; sed --expression p a", ['a', 'b']],
    ['git restore -s HEAD~1 a; git rm --cached b; git mv -n c d', ['a']],
    ['git -C src rm a; git --work-tree=src rm b', ['src:a']],
    ['rsync -a a b lib; rsync -a src/ lib', ['lib/a', 'lib/b', 'lib']],
    ['cp "$X" lib/; cp "$X" lib', ['lib']],
    ["bash -euo pipefail -c 'rm a'; bash <<EOF\nrm b\nEOF\nsh <<< 'rm c'", ['a', 'b', 'c']],
    ['bash run.sh <<EOF\nrm b\nEOF', []],
    ['sort -o a b; sort --outp=c -k 2 d; sort -u e', ['a', 'c']],
    ['gcc -Wall -nostdlib -o a b.c; openssl genrsa -out c', ['a', 'c']],
    ['npx prettier --write --config x.json a.ts src; prettier --check a.ts', ['a.ts', 'src']],
    ['black a.py; black --check b.py; gofmt -w c.go; gofmt -l d.go', ['a.py', 'c.go']],
    ["yq -i '.a = 1' a.yaml; yq . b.yaml", ['a.yaml']],
    ["gawk -i inplace '{ print }' a; awk '{ print }' b", ['a']],
    ['tar czf a.tgz src; tar -C out -xf b.tgz; tar --create --file=c src; zip -r d src', ['a.tgz', 'c', 'd.zip']],
    ['uniq a b; gzip c; gzip -c d; scp box:a e; scp f box:b', ['b', 'c', 'c.gz', 'e or e/a']],
    ['chmod +x a; chmod -R u-w b c; chmod -x d; chown x:y e', ['a', 'b', 'c', 'd', 'e']],
    ['xargs rm a; ls | xargs -I{} cp {} lib/; ls | xargs cp a', ['a']],
    ['F=a; rm "$F" ${F}.bak; for F in x; do rm $F; done; rm $F', ['a', 'a.bak', 'x']],
    ['for F in x y; do rm "$F"; done; for F in $LIST; do rm $F; done', ['x', 'y']],
    ['A="rm x"; $A; B="c d"; rm $B "$B"', ['x', 'c', 'd', 'c d']],
    ['rm${IFS}-f${IFS}x', ['x']],
    ['echo $(( $(rm x) + 1 )) ${A:-$(rm y)}; (( $(rm z) > 1 )); [[ $(rm w) > a ]]', ['x', 'y', 'z', 'w']],
    ["{ bash; } <<< 'rm x'; (sh) < s.sh", ['x']],
    ["rm x\nif true; then rm y\necho 'unfinished", ['x', 'y']],
    ['if true; then F=a; fi; rm $F; (G=b); rm $G; H=x || H=y; rm $H', []],
    ['rm {a,b}.ts $\'c\\x20d\' x{1..3}; rm "{e,f}" {g}', ['a.ts', 'b.ts', 'c d', 'x1', 'x2', 'x3', '{e,f}', '{g}']],
    ['rm $HOME/a "${HOME}/b" ~/c "~/d" "$PWD/e"', ['~/a', '~/b', '~/c', './e']],
    ['bash -c "cd $DIR && rm a /b"; echo "rm c" | sh; eval rm "$X" d', ['/b', 'c', 'd']],
    ['echo `rm a` "`rm b`"; cat <<E > f\n$(rm c)\nE', ['a', 'b', 'c', 'f']],
    ['git checkout main a b; git checkout -b x; git checkout x; git worktree remove -f ../w', ['a', 'b', '../w']],
    ['echo # > a', []],
    ["echo 'unfinished > a", []],
  ])('%s', (command, expected) => {
    expect(targets(command)).toEqual(expected)
  })

  test.each([
    ['git commit --no-verify -m x', 'git commit --no-verify'],
    ['git commit -nm x', 'git commit -n'],
    ['git -c core.hooksPath=/dev/null commit -m x', 'git -c core.hooksPath'],
    ['git config core.hooksPath /tmp', 'git config core.hooksPath'],
    ['git push --no-verify', 'git push --no-verify'],
    ['git -C sub commit --no-verify -m x', 'git commit --no-verify'],
    ['git config --global core.hooksPath /tmp', 'git config core.hooksPath'],
    ['timeout 3 git commit -qn', 'git commit -n'],
    ['heimdall uninstall --yes', 'heimdall uninstall'],
    ['cd / && /usr/local/bin/heimdall guard uninstall', 'heimdall guard uninstall'],
    ['env X=1 heimdall mcp restore claude --yes', 'heimdall mcp restore'],
    [`cd "$DIR" && sh -c 'git commit --no-verify -m x'`, 'git commit --no-verify'],
    ['git commit --no-verif -m x', 'git commit --no-verif'],
    ["git bisect run sh -c 'git commit --no-verify -m x'", 'git commit --no-verify'],
    ["git submodule foreach 'git push --no-verify'", 'git push --no-verify'],
    ['git config set core.hooksPath /tmp', 'git config core.hooksPath'],
    ['git config unset core.hooksPath', 'git config core.hooksPath'],
    ['git config --unset-all core.hooksPath', 'git config core.hooksPath'],
    ['git config --remove-section core', 'git config of section core'],
    ['git config --edit', 'git config --edit'],
    ['HEIMDALL_PLANNING_DIR=/tmp/x git commit -m x', 'HEIMDALL_PLANNING_DIR=… git commit'],
    ['$SUDO git commit --no-verify -m x', 'git commit --no-verify'],
    ['sub restore claude', 'sub restore'],
    ['command sub restore claude', 'sub restore'],
  ])('%s goes past the guard', (command, bypass) => {
    expect(shellWrites(command).bypass).toBe(bypass)
  })

  test.each([
    'git commit -m "no-verify"',
    'git commit -am x',
    'git commit -mn',
    'git commit -am note',
    'git config --get core.hooksPath',
    'echo --no-verify',
    'heimdall uninstall --dry-run',
    'heimdall guard install',
    'heimdall claim check uninstall',
  ])('%s does not', (command) => {
    expect(shellWrites(command).bypass).toBeNull()
  })

  test('a commit says what goes into it besides what is staged', () => {
    const commit = (command: string): unknown => {
      const { commit: found } = shellWrites(command)
      return found === null ? null : [found.all, ...found.paths.map(({ path }) => path)]
    }
    expect(commit('git add a b && git commit -m x')).toEqual([null, 'a', 'b'])
    expect(commit('git commit -am x')).toEqual(['tracked'])
    expect(commit('git commit -m all -- c')).toEqual([null, 'c'])
    expect(commit('git commit c -m all')).toEqual([null, 'c'])
    expect(commit('git add -A; git commit -m x')).toEqual(['everything'])
    expect(commit('git add -u; git commit -m x')).toEqual(['tracked'])
    expect(commit('git add -A src .; git commit -m x')).toEqual([null, 'src', '.'])
    expect(commit('git add a')).toBeNull()
    expect(shellWrites('cd x && git -C y commit -m z').commit).toEqual({ cwd: 'x/y', all: null, paths: [] })
  })

  test('a diff that is applied says where it is, and where its names lead', () => {
    const diffs = (command: string): unknown[] =>
      shellWrites(command).diffs.map(({ diff, cwd, strip, below, isGit }) => [
        typeof diff === 'string' ? diff : named(diff),
        cwd,
        strip,
        below,
        isGit,
      ])
    expect(diffs('git apply fix.diff')).toEqual([['fix.diff', '', undefined, '', true]])
    expect(diffs('cd src && git apply -p2 --directory=lib ../x.diff')).toEqual([
      ['src:../x.diff', 'src', 2, 'lib', true],
    ])
    expect(diffs('patch -d src < x.diff')).toEqual([['x.diff', 'src', 'folders', '', false]])
    expect(diffs("cd src; patch -p0 <<'E'\n+++ a\nE")).toEqual([['+++ a', 'src', 0, '', false]])
    expect(diffs('git apply --check x.diff; patch --dry-run < x.diff; patch -p$N < x.diff')).toEqual([])
  })

  test.each(['$(', '"$(', '"${a:-', '$((', '<(', '( ', '{ ', 'A=1 ', 'sudo ', 'eval ', 'case x in ', 'cd a | '])(
    '%s repeated thousands of times ends, with an answer',
    (opening) => {
      expect(Array.isArray(targets(`${opening.repeat(scaled(8_000, 20_000))}rm a`))).toBe(true)
    },
  )

  test('whatever is quoted comes out as it was, and no text stops the reader', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[^'\0-\u001f~-][^'\0-\u001f]{0,20}$/u), (name) => {
        expect(targets(`echo x > '${name}'`)).toEqual(name.startsWith('/dev/') ? [] : [name])
      }),
    )
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), (text) => {
        shellWrites(text)
      }),
    )
  })
})

describe('files of a patch', () => {
  test('as Codex writes it, with both names of a move', () => {
    const patch = [
      '*** Begin Patch',
      '*** Add File: a b.ts',
      '+x',
      '*** Update File: old.ts',
      '*** Move to: new.ts',
      '*** Delete File: gone.ts',
      '*** End Patch',
    ]
    expect(patchPaths(patch.join('\n'))).toEqual(['a b.ts', 'old.ts', 'new.ts', 'gone.ts'])
  })

  test('as git writes it', () => {
    expect(patchPaths('--- a/src/x.ts\n+++ b/src/x.ts\n@@ -1 +1 @@\n--- /dev/null\n+++ b/new.ts\n')).toEqual([
      'src/x.ts',
      'new.ts',
    ])
  })
})
