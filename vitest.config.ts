import { readFileSync } from 'node:fs'
import { defineConfig } from 'vitest/config'

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }

// Soak runs the same tests with the full counts; see test/support/scale.ts.
const isSoak = process.env['HEIMDALL_SOAK'] === '1'

export default defineConfig({
  define: { __HEIMDALL_VERSION__: JSON.stringify(version) },
  test: {
    // A hung test must fail, a slow machine must not: generous, and no test depends on it.
    testTimeout: isSoak ? 3_600_000 : 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    // Three more than the cores of the smallest machine: most tests wait for processes more than they compute.
    maxWorkers: 5,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'test/architecture.test.ts', 'test/docs.test.ts'],
          pool: 'threads',
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['test/**/*.test.ts'],
          exclude: ['test/architecture.test.ts', 'test/docs.test.ts', 'test/live-hosts/**', 'node_modules/**'],
          globalSetup: ['test/support/global-setup.ts'],
          pool: 'forks',
          // One process per worker, not per file: starting them took a tenth of the whole time. A test that changes its own process puts it back.
          isolate: false,
          // A worker that starts a program copies its page tables: at 400 MB that takes 15 ms of processor time, 10,000 times in
          // a run. A heap that is collected early is smaller, and memory of malloc in huge pages costs next to nothing.
          execArgv: ['--expose-gc', '--initial-old-space-size=32', '--max-semi-space-size=4'],
          setupFiles: ['test/support/small-worker.ts'],
          env: { GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1' },
        },
      },
      // The real hosts, where `npm run hosts:install` has brought them: only by `npm run test:hosts`.
      ...(process.env['HEIMDALL_HOSTS'] === '1'
        ? [
            {
              extends: true as const,
              test: {
                name: 'hosts',
                // Hosts start in seconds, and in a minute on a machine that has much else to do.
                ...(isSoak ? {} : { testTimeout: 600_000 }),
                include: ['test/live-hosts/**/*.test.ts'],
                globalSetup: ['test/support/global-setup.ts', 'test/support/hosts/announce.ts'],
                pool: 'forks' as const,
                maxWorkers: 2,
              },
            },
          ]
        : []),
    ],
  },
})
