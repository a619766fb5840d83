#!/usr/bin/env node
// Seed 002 §7 calls session start by this path; it is the launcher `bb-init`.
import { createRequire } from 'node:module'

createRequire(import.meta.url)('../dist/cli.cjs').start('bb-init')
