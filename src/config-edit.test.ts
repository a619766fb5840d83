import { expect, test } from 'vitest'
import { withSetting } from './config-edit.ts'

test.each([
  ['', 'detach_key = 29\n'],
  ['log_level = "warn"\n', 'log_level = "warn"\ndetach_key = 29\n'],
  [
    '# mine\ndetach_key = 28 # Ctrl-\\\n[notify]\ndesktop = false',
    '# mine\ndetach_key = 29\n[notify]\ndesktop = false\n',
  ],
  ['[notify]\ndesktop = false\n', 'detach_key = 29\n[notify]\ndesktop = false\n'],
  ['worktree.copy = [\n  ".env",\n]\n', 'worktree.copy = [\n  ".env",\n]\ndetach_key = 29\n'],
])('one line changes, the rest stays: %j', async (before, after) => {
  expect(await withSetting(before, 'heimdall.toml', 'detach_key', 29)).toBe(after)
})

test('a value that the key does not allow is rejected with the allowed ones', async () => {
  await expect(withSetting('', 'heimdall.toml', 'classifier', 'gpt')).rejects.toThrow(/one of claude, simple, none/)
  await expect(withSetting('', 'heimdall.toml', 'log_level', 'loud')).rejects.toThrow(/one of error, warn, info, debug/)
})

test('a file that one line cannot change is left to the user, with the line', async () => {
  for (const text of ['[classifier.simple]\ndebounce_ms = 5\n', 'classifier.simple.debounce_ms = 5\n'])
    await expect(withSetting(text, 'heimdall.toml', 'classifier', 'none')).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      hint: 'edit the file: classifier = "none"',
    })
})
