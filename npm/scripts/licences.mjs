// Gathers the licences of what others wrote and a program holds. Each of them asks to come along wherever the program goes.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fail, programOf, root } from './platforms.mjs'

const go = (...args) => execFileSync('go', args, { cwd: root, encoding: 'utf8' })

/** The licences of all that is in the program of a platform, as one text. */
export function licencesOf(platform) {
  const lines = go('version', '-m', programOf(platform)).split('\n').map((line) => line.trim().split('\t'))
  const modules = lines.filter(([key]) => key === 'dep').map(([, path]) => path)
  const parts = go('list', '-m', '-f', '{{.Path}} {{.Version}}\t{{.Dir}}', ...modules).trim().split('\n').map((line) => {
    const [name, folder] = line.split('\t')
    return { name, text: licencesIn(folder, name) }
  })
  parts.unshift({ name: 'Go, its library and runtime', text: licencesIn(go('env', 'GOROOT').trim(), 'Go') })
  parts.push({ name: 'SQLite, as github.com/mattn/go-sqlite3 brings it', text: 'Its authors have put it into the public domain: https://www.sqlite.org/copyright.html' })
  if (platform.os === 'linux' && platform.static) {
    parts.push({
      name: 'Parts of the GNU C Library, which is linked statically',
      text: `Its source is at https://www.gnu.org/software/libc/. The source of this program, from which it can be linked anew with another\nversion of that library, is where this package comes from.\n\n${readFileSync('/usr/share/common-licenses/LGPL-2.1', 'utf8')}`,
    })
  }
  const rule = '='.repeat(80)
  return `What others wrote that is in this program, and their licences.\n\n${parts.map(({ name, text }) => `${rule}\n${name}\n${rule}\n\n${text.trim()}\n`).join('\n')}`
}

function licencesIn(folder, name) {
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file)).sort()
  if (files.length === 0) fail(`${name}: there is no licence in ${folder}`)
  return files.map((file) => readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n').trim()).join('\n\n')
}
