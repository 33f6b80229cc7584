-- Drives the language server from Neovim as a person would:
--
--   WIPAGENT=/path/to/wipagent nvim --headless -u NONE -i NONE -n -l examples/neovim/test.lua
--
-- (Neovim before 0.9: -c 'luafile examples/neovim/test.lua' in place of -l.) It prints what it checks, and exits with 1
-- at the first surprise.

local here = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h")
package.path = here .. "/?.lua;" .. package.path

local patience = 20000 -- milliseconds; guards against hanging

local function say(text)
  io.stdout:write(text .. "\n")
end

local function fail(text)
  say("FAIL: " .. text)
  vim.cmd("cquit 1")
end

local function check(what, got, want)
  if not vim.deep_equal(got, want) then
    fail(what .. "\n got: " .. vim.inspect(got) .. "\nwant: " .. vim.inspect(want))
  end
  say("ok: " .. what)
end

local function wait(what, condition)
  if not vim.wait(patience, condition, 10) then
    fail("waited in vain for " .. what .. "; diagnostics: " .. vim.inspect(vim.diagnostic.get(0)))
  end
end

local function write(path, text)
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
end

local function lines()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), "\n") .. "\n"
end

-- rules returns the rules of the diagnostics shown, in the order of lines.
local function rules()
  local list = vim.diagnostic.get(0)
  table.sort(list, function(a, b)
    return a.lnum < b.lnum
  end)
  return vim.tbl_map(function(d)
    return d.code or (d.user_data and d.user_data.lsp and d.user_data.lsp.code)
  end, list)
end

-- place puts the cursor on the first occurrence of a text.
local function place(text)
  for i, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, true)) do
    local at = line:find(text, 1, true)
    if at then
      vim.api.nvim_win_set_cursor(0, { i, at - 1 })
      return
    end
  end
  fail("found no " .. text)
end

local function run()
  local dir = vim.fn.tempname()
  vim.fn.mkdir(dir, "p")
  write(dir .. "/wip.toml", "")
  write(dir .. "/shared.wip", "package shared;\n\n/// Where something stands, in metres.\nrecord Place {\n  x: float;\n  y: float;\n}\n")
  write(dir .. "/door.wip", [[
package house;
import "shared.wip";

/// 門 🚪 é: a door, and where it stands.
record Door {
  open: bool
  place: fact<Place>;
}

/// Opens doors.
@mutating @dry_run @audience(local_operator)
interface Doors {
  /// 🚪 Moves a door.
  @alias("開ける 🚪🚪") @example(door: "front", to: shut)
  move_door(door: string [1..64 bytes], to: Move) -> Door;
}

enum Move   { wide, shut }
]])

  require("wip").setup({ cmd = { vim.env.WIPAGENT or "wipagent", "idl", "lsp" } })
  vim.cmd("edit " .. dir .. "/door.wip")
  check("a .wip file has its file type", vim.bo.filetype, "wip")

  wait("diagnostics", function()
    return #vim.diagnostic.get(0, { severity = vim.diagnostic.severity.ERROR }) > 0
  end)
  check("the broken file shows what is wrong", rules()[1], "missing-semicolon")
  check("at the right line", vim.diagnostic.get(0, { severity = vim.diagnostic.severity.ERROR })[1].lnum, 5)

  -- The fix that the diagnostic offers.
  vim.ui.select = function(items, _, choose)
    choose(items[1], 1)
  end
  place("bool")
  vim.api.nvim_win_set_cursor(0, { 6, 11 })
  vim.lsp.buf.code_action()
  wait("the code action", function()
    return lines():find("open: bool;", 1, true) ~= nil
  end)
  say("ok: a code action mends it")
  wait("no more errors", function()
    return #vim.diagnostic.get(0, { severity = vim.diagnostic.severity.ERROR }) == 0
  end)
  say("ok: then nothing is wrong")

  -- Completion, typed.
  place("place: fact")
  vim.o.completeopt = "menuone,noinsert"
  local keys = vim.api.nvim_replace_termcodes("oat: fact<lt>Pl<C-x><C-o>", true, true, true)
  local done = false
  local timer = vim.loop.new_timer()
  timer:start(50, 50, vim.schedule_wrap(function()
    if not done and vim.fn.pumvisible() == 1 then
      done = true
      timer:close()
      vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes("<C-y>>;<Esc>", true, true, true), "t", false)
    end
  end))
  vim.defer_fn(function()
    if not done then
      fail("waited in vain for completions")
    end
  end, patience)
  vim.fn.feedkeys(keys, "tx!")
  check("completion writes the type", vim.trim(vim.api.nvim_get_current_line()), "at: fact<Place>;")

  -- Rename, on a line with characters of several UTF-16 units and bytes.
  place("Move)")
  vim.lsp.buf.rename("Position")
  wait("the rename", function()
    return lines():find("enum Position", 1, true) ~= nil
  end)
  check("rename reaches each use", { lines():find("to: Position) ->", 1, true) ~= nil, lines():find("Move", 1, true) ~= nil }, { true, true })

  -- A name that is taken is refused.
  place("Position)")
  local before = lines()
  local refused
  vim.notify = function(message)
    refused = message
  end
  vim.lsp.buf.rename("Door")
  wait("the refusal", function()
    return refused ~= nil
  end)
  check("a rename to a name that is taken changes nothing", lines(), before)

  -- Rename behind an emoji: the label in the example.
  place("shut)")
  vim.lsp.buf.rename("closed")
  wait("the rename of a label", function()
    return lines():find("wide, closed }", 1, true) ~= nil
  end)
  check("rename finds its place behind emoji", lines():find('@alias("開ける 🚪🚪") @example(door: "front", to: closed)', 1, true) ~= nil, true)

  -- Hover and definition.
  local function ask(method)
    local params = vim.lsp.util.make_position_params(0, "utf-16")
    for _, answer in pairs(vim.lsp.buf_request_sync(0, method, params, patience) or {}) do
      return answer.result
    end
  end
  place("move_door")
  check("hover has the schema that models are shown", ask("textDocument/hover").contents.value:find('"additionalProperties": false', 1, true) ~= nil, true)
  place("Place>")
  check("hover has the documentation", ask("textDocument/hover").contents.value:find("Where something stands", 1, true) ~= nil, true)
  check("definition is in the other file", vim.fn.fnamemodify(vim.uri_to_fname(ask("textDocument/definition").uri), ":t"), "shared.wip")

  -- Format.
  if vim.lsp.buf.format then
    vim.lsp.buf.format({ timeout_ms = patience })
  else
    vim.lsp.buf.formatting_sync(nil, patience)
  end
  check("format brings the file into its canonical form", lines(), [[
package house;
import "shared.wip";

/// 門 🚪 é: a door, and where it stands.
record Door {
  open: bool;
  place: fact<Place>;
  at: fact<Place>;
}

/// Opens doors.
@mutating @dry_run @audience(local_operator)
interface Doors {
  /// 🚪 Moves a door.
  @alias("開ける 🚪🚪") @example(door: "front", to: closed)
  move_door(door: string [1..64 bytes], to: Position) -> Door;
}

enum Position { wide, closed }
]])
  wait("no errors at the end", function()
    return #vim.diagnostic.get(0, { severity = vim.diagnostic.severity.ERROR }) == 0
  end)

  -- A warning: what its rule is about, and the comment that silences it.
  wait("a warning", function()
    return vim.tbl_contains(rules(), "doc-missing")
  end)
  place("Position {")
  wait("a hover that explains it", function()
    return ask("textDocument/hover").contents.value:find("`wipagent idl explain doc-missing`", 1, true) ~= nil
  end)
  say("ok: hover explains a warning")
  vim.ui.select = function(items, _, choose)
    for i, item in ipairs(items) do
      if vim.inspect(item):find("silence doc%-missing") then
        return choose(item, i)
      end
    end
    fail("found no action that silences: " .. vim.inspect(items))
  end
  vim.lsp.buf.code_action()
  wait("the comment that silences", function()
    return lines():find("\n//wip:ignore doc-missing\nenum Position", 1, true) ~= nil
  end)
  wait("a warning of its missing reason", function()
    return vim.tbl_contains(rules(), "bad-suppression")
  end)
  say("ok: a comment without a reason is a warning")
  place("//wip:ignore")
  vim.api.nvim_set_current_line("//wip:ignore doc-missing the labels say it")
  wait("silence", function()
    return not vim.tbl_contains(rules(), "bad-suppression") and not vim.inspect(vim.diagnostic.get(0)):find('enum "Position"', 1, true)
  end)
  say("ok: with a reason it silences the warning")

  -- What is wrong with a file that is imported and not open.
  write(dir .. "/shared.wip", "package shared;\n\n/// Where something stands.\nrecord Place {\n  x: flaot;\n}\n")
  vim.cmd("write")
  wait("the fault of the imported file", function()
    local buffer = vim.fn.bufnr(dir .. "/shared.wip")
    local list = buffer > 0 and vim.diagnostic.get(buffer) or {}
    return #list == 1 and list[1].lnum == 4
  end)
  check("what is wrong with an imported file is shown there alone", #vim.diagnostic.get(0, { severity = vim.diagnostic.severity.ERROR }), 0)

  -- A buffer that is no file.
  vim.cmd("edit! unsaved://buffer/1") -- diagnostics find a buffer by its name
  vim.bo.filetype = "wip"
  vim.api.nvim_buf_set_lines(0, 0, -1, true, { "package a;", "record A { x: flaot; }" })
  wait("diagnostics of a buffer without a file", function()
    return vim.tbl_contains(rules(), "unknown-type")
  end)
  say("ok: a buffer without a file has diagnostics")

  local ids = vim.tbl_map(function(c)
    return c.id
  end, (vim.lsp.get_clients or vim.lsp.get_active_clients)())
  vim.lsp.stop_client(ids)
  wait("the server to end", function()
    return #(vim.lsp.get_clients or vim.lsp.get_active_clients)() == 0
  end)
  say("ok: the server ends")
  say("PASS")
end

local ok, err = xpcall(run, debug.traceback)
if not ok then
  fail(err)
end
vim.cmd("qall!")
