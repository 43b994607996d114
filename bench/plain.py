"""Deletes a conversation from an Agent's store the obvious way: every row of sessions is read into Python, what belongs
together is found by walking there, and the rows go by id in one transaction.

It stands for what users have without the sidecar, and is measured beside it (docs/reference/performance.md). Each line of its input
is {"home": ..., "id": ...}; each is answered with the ids that went and the seconds that it took. It leaves out what makes
a delete safe beside others and after a crash: the home's lock, the cleanup manifest, waiting for the write lock.
"""

import hashlib
import json
import os
import sqlite3
import sys
import time
import uuid


class Row:
    """A session, with its model_config read."""

    def __init__(self, values):
        (self.id, self.parent, self.source, self.end_reason, self.started_at, self.ended_at, self.chat_id,
         self.session_key, self.last_activity_at, config) = values
        self.config, self.readable = {}, not config
        if config:
            try:
                parsed = json.loads(config)
            except ValueError:
                parsed = None
            if isinstance(parsed, dict):
                self.config, self.readable = parsed, True

    def marker(self, name):
        return self.config.get(name)


MARKERS = ("_delegate_from", "_branched_from", "_reset_from")


def connect(store):
    con = sqlite3.connect(store, timeout=20, isolation_level=None)
    con.execute("PRAGMA foreign_keys = ON")
    con.execute("PRAGMA synchronous = FULL")
    con.execute("PRAGMA fullfsync = ON")
    con.execute("PRAGMA secure_delete = ON")
    return con


def read_sessions(con):
    rows = {}
    for values in con.execute(
            "SELECT id, parent_session_id, source, end_reason, started_at, ended_at, chat_id, session_key, "
            "last_activity_at, model_config FROM sessions"):
        row = Row(values)
        rows[row.id] = row
    children = {}
    for row in rows.values():
        if row.parent is not None:
            children.setdefault(row.parent, []).append(row)
    return rows, children


def tables(con):
    return {name for (name,) in con.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


class Refused(Exception):
    pass


# The guards, on either path.

def check_guards(con, rows, ids):
    now = time.time()
    roots = set()
    for id in ids:
        seen, row = set(), rows.get(id)
        while row is not None and row.id not in seen:
            seen.add(row.id)
            parent = rows.get(row.parent)
            if (parent is None or parent.end_reason != "compression" or row.source == "tool"
                    or any(row.marker(name) == parent.id for name in MARKERS)):
                break
            row = parent
        roots.add(row.id if row is not None else id)
    guards = [("compression_locks", "session_id", set(ids)), ("session_turn_leases", "conversation_id", roots | set(ids))]
    for table, column, wanted in guards:
        for key, holder, expires in con.execute(f"SELECT {column}, holder, expires_at FROM {table}").fetchall():
            if key not in wanted:
                continue
            if expires > now and not is_dead(holder):
                raise Refused("active_turn")
            con.execute(f"DELETE FROM {table} WHERE {column} = ?", (key,))


def is_dead(holder):
    pid = next((part[4:] for part in holder.split(":") if part.startswith("pid=")), None)
    namespace = next((part[6:] for part in holder.split(":") if part.startswith("pidns=")), None)
    if pid is None or not pid.isdigit() or os.readlink("/proc/self/ns/pid") != f"pid:[{namespace}]":
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return False


# The store of an Agent without the ledger.

def legacy_targets(rows, children, start):
    kept = set()
    for row in rows.values():
        parent = rows.get(row.marker("_delegate_from") or row.parent)
        if row.id == start:
            continue
        if row.marker("_branched_from") is not None:
            kept.add(row.id)
        elif parent is not None and parent.end_reason == "compression":
            kept.add(row.id)
        elif parent is not None and parent.end_reason == "branched":
            if row.started_at is None or parent.ended_at is None or row.started_at >= parent.ended_at:
                kept.add(row.id)
    queue = list(kept)
    while queue:
        for child in children.get(queue.pop(), []):
            if child.id != start and child.id not in kept:
                kept.add(child.id)
                queue.append(child.id)
    found, added = {start}, True
    while added:
        added = False
        for row in rows.values():
            if row.id in found or row.id in kept:
                continue
            delegate = row.marker("_delegate_from")
            if delegate in found or (delegate is None and row.source == "subagent" and row.readable and row.parent in found):
                found.add(row.id)
                added = True
    return [start] + sorted(found - {start})


def check_no_runtime_history(con, ids):
    for key, value in con.execute("SELECT key, value FROM state_meta WHERE key LIKE 'gateway.%'"):
        if any(id in key or id in (value or "") for id in ids):
            raise Refused("runtime_history_unsupported")


def delete_legacy(con, requested):
    rows, children = read_sessions(con)
    ids = legacy_targets(rows, children, requested)
    check_no_runtime_history(con, ids)
    check_guards(con, rows, ids)
    write_receipt(con, rows, ids)
    delete_rows(con, ids)
    return ids


def delete_rows(con, ids, detach="parent_session_id = NULL"):
    for id in ids:
        con.execute("DELETE FROM messages WHERE session_id = ?", (id,))
    for id in ids:
        con.execute(f"UPDATE sessions SET {detach} WHERE parent_session_id = ?", (id,))
    for id in ids:
        con.execute("DELETE FROM session_model_usage WHERE session_id = ?", (id,))
        con.execute("DELETE FROM telegram_dm_topic_bindings WHERE session_id = ?", (id,))
        con.execute("DELETE FROM compression_locks WHERE session_id = ?", (id,))
        con.execute("DELETE FROM sessions WHERE id = ?", (id,))


def write_receipt(con, rows, ids):
    con.execute("CREATE TABLE IF NOT EXISTS session_deletion_receipts (sequence INTEGER PRIMARY KEY AUTOINCREMENT, "
                "operation_id TEXT NOT NULL UNIQUE, deletion_json TEXT NOT NULL)")
    operation = uuid.uuid4().hex
    identities = [{"id": id, "source": rows[id].source, "session_key": rows[id].session_key, "chat_id": rows[id].chat_id,
                   "parent_session_id": rows[id].parent} for id in sorted(ids) if id in rows]
    if identities:
        con.execute("INSERT INTO session_deletion_receipts (operation_id, deletion_json) VALUES (?, ?)",
                    (operation, encode({"operation_id": operation, "reason": "explicit_user", "identities": identities})))


# The store of an Agent with the ledger.

def encode(value):
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def fingerprint(target, payload):
    return hashlib.sha256(encode({"payload": payload, "target": target}).encode()).hexdigest()


def meta(con, prefix):
    """All rows of state_meta with this prefix whose value is JSON."""
    found = {}
    for key, value in con.execute("SELECT key, value FROM state_meta WHERE key LIKE ?", (prefix + "%",)):
        try:
            found[key] = json.loads(value)
        except (TypeError, ValueError):
            pass
    return found


def put(con, key, value):
    con.execute("INSERT OR REPLACE INTO state_meta (key, value) VALUES (?, ?)", (key, encode(value)))


def drop(con, key):
    con.execute("DELETE FROM state_meta WHERE key = ?", (key,))


def canonical_targets(rows, children, requested, policies):
    targets, row = {requested}, rows.get(requested)
    if row is not None and row.chat_id:
        policy = policies.get("gateway.local_policy.v1:" + row.chat_id)
        if policy is not None:
            lineage = policy.get("lineage", [row.chat_id])
            if policy.get("session_id") != row.chat_id or any(
                    id not in rows or rows[id].chat_id != row.chat_id for id in lineage):
                raise Refused("receipt_invalid")
            if requested in lineage:
                targets.update(lineage, [row.chat_id])
    added = True
    while added:
        added = False
        for id in list(targets):
            member = rows.get(id)
            if member is None or member.end_reason != "compression":
                continue
            following = [c for c in children.get(id, [])
                         if c.source != "tool" and all(c.marker(name) != id for name in MARKERS)]
            if len(following) > 1:
                raise Refused("lineage_ambiguous")
            if following and following[0].id not in targets:
                targets.add(following[0].id)
                added = True
        for row in rows.values():
            if row.id in targets or row.marker("_delegate_from") is None:
                continue
            if row.marker("_delegate_from") in targets or row.parent in targets:
                targets.add(row.id)
                added = True
    return [requested] + sorted(targets - {requested})


def named_rows(con, sql, ids):
    found = []
    for id in ids:
        cursor = con.execute(sql, (id,))
        names = [column[0] for column in cursor.description]
        found += [dict(zip(names, values)) for values in cursor]
    return found


def retire_admission(con, row, now):
    payload = json.loads(row["payload_json"])
    for kind in ("attachments_v1", "native_text_v1", "api_turn_v1"):
        part = payload.get(kind)
        for media in part.get("media", []) if isinstance(part, dict) else []:
            key = "gateway.media.retired.v1." + hashlib.sha256(media["path"].encode()).hexdigest()
            con.execute("INSERT OR IGNORE INTO state_meta (key, value) VALUES (?, ?)", (key, encode(media)))
    key = "gateway.admission.result.v1." + row["admission_id"]
    stored = meta(con, key).get(key)
    if stored is not None:
        if isinstance(stored, dict) and isinstance(stored.get("result"), dict):
            for name in ("last_reasoning", "tools", "_turn_user_row"):
                stored["result"].pop(name, None)
            stored["result"]["messages"] = []
            put(con, key, stored)
        else:
            drop(con, key)
    identity = fingerprint(row["target_session_id"], {"principal": row["principal_id"], "request": row["request_id"]})
    put(con, "gateway.terminal_admission.v1." + row["admission_id"],
        dict(row, payload_json="{}", lineage_json="[]", retired_at=now))
    put(con, "gateway.terminal_identity.v1." + identity, row["admission_id"])


def retire_worker(con, row, now):
    finish = fingerprint(row["session_id"], {"operation": "execution.finish", "payload": {}})
    receipts = named_rows(con, "SELECT sequence, payload_digest, result_json FROM worker_receipts WHERE execution_id = ? "
                               "ORDER BY sequence", [row["execution_id"]])
    for receipt in receipts:
        if receipt["payload_digest"] != finish:
            receipt["result_json"] = None
    put(con, "gateway.terminal_worker.v1." + row["execution_id"], dict(row, receipts=receipts, retired_at=now))
    con.execute("DELETE FROM worker_receipts WHERE execution_id = ?", (row["execution_id"],))


def redact_mutations(con, ids):
    for key, value in meta(con, "gateway.mutation.v1.").items():
        result = value.get("result") if isinstance(value, dict) else None
        if not isinstance(result, dict):
            continue
        message = result.get("target_message")
        names = [result.get("session_id"), result.get("target_session_id"), result.get("previous_target_session_id"),
                 message.get("session_id") if isinstance(message, dict) else None]
        if any(name in ids for name in names if isinstance(name, str)):
            for name in ("target_message", "summary", "title"):
                if name in result:
                    result[name] = None
            put(con, key, value)


def forget_names(con, ids, policies):
    for id in ids:
        for key in ("gateway.api.settings.v1." + id, "gateway.viewer_close.v1:" + id, "gateway.api.binding.v1." + id):
            drop(con, key)
    for key, policy in policies.items():
        entry = policy.get("entry") if isinstance(policy, dict) else None
        if isinstance(entry, dict) and entry.get("session_id") in ids:
            drop(con, key)
    for key, value in con.execute(
            "SELECT key, value FROM state_meta WHERE key LIKE 'gateway.api.conversation.v1.%'").fetchall():
        if value in ids:
            drop(con, key)
    for scope, session_key, entry in con.execute("SELECT scope, session_key, entry_json FROM gateway_routing").fetchall():
        try:
            entry = json.loads(entry)
        except ValueError:
            continue
        if isinstance(entry, dict) and entry.get("session_id") in ids:
            con.execute("DELETE FROM gateway_routing WHERE scope = ? AND session_key = ?", (scope, session_key))


def delete_canonical(con, requested):
    now = time.time()
    rows, children = read_sessions(con)
    policies = meta(con, "gateway.local_policy.v1:")
    ids = canonical_targets(rows, children, requested, policies)
    check_guards(con, rows, ids)
    admissions = named_rows(con, "SELECT * FROM session_admissions WHERE target_session_id = ? ORDER BY seq", ids)
    workers = named_rows(con, "SELECT * FROM worker_executions WHERE session_id = ?", ids)
    if any(row["status"] != "terminal" for row in admissions + workers):
        raise Refused("active_turn")
    write_receipt(con, rows, ids)
    for row in admissions:
        retire_admission(con, row, now)
    for row in workers:
        retire_worker(con, row, now)
    redact_mutations(con, ids)
    for id in ids:
        put(con, "gateway.retired_session.v1." + id, {"own": True, "retired_at": now})
    forget_names(con, ids, policies)
    for id in ids:
        row = rows.get(id)
        if row is not None and (row.source or "").strip() and (row.session_key or "").strip():
            con.execute("INSERT INTO conversation_generations VALUES (?, ?, 1) ON CONFLICT (source, session_key) "
                        "DO UPDATE SET generation = generation + 1", (row.source.strip(), row.session_key.strip()))
        con.execute("DELETE FROM session_admissions WHERE target_session_id = ?", (id,))
        con.execute("DELETE FROM worker_executions WHERE session_id = ?", (id,))
    delete_rows(con, ids, "parent_session_id = NULL, runtime_revision = runtime_revision + 1")
    con.execute("DELETE FROM system_prompts WHERE hash NOT IN "
                "(SELECT system_prompt_hash FROM sessions WHERE system_prompt_hash IS NOT NULL)")
    return ids


def remove_files(home, ids):
    folder = os.path.join(home, "sessions")
    names = os.listdir(folder)
    for id in ids:
        for name in names:
            if name in (f"{id}.json", f"{id}.jsonl", f"session_{id}.json") or name.startswith(f"request_dump_{id}_"):
                os.unlink(os.path.join(folder, name))


def delete(home, requested):
    con = connect(os.path.join(home, "state.db"))
    try:
        con.execute("BEGIN IMMEDIATE")
        if "session_admissions" in tables(con):
            ids = delete_canonical(con, requested)
        else:
            ids = delete_legacy(con, requested)
        con.execute("COMMIT")
    finally:
        con.close()
    remove_files(home, ids)
    return ids


def main():
    for line in sys.stdin:
        request = json.loads(line)
        start = time.perf_counter()
        try:
            answer = {"ids": delete(request["home"], request["id"])}
        except (Refused, sqlite3.Error) as error:
            answer = {"error": repr(error)}
        answer["seconds"] = time.perf_counter() - start
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
