@echo off
rem For Windows: does what the file without an ending beside this one does, and says why.
rem Programs are looked up in PATH alone: what lies in the folder at hand may be anybody's.
setlocal
set "PATH=%PATH%;%USERPROFILE%\.local\bin"
for %%P in (hybrid-memory-mcp.exe) do set "program=%%~$PATH:P"
for %%P in (uvx.exe) do set "fetcher=%%~$PATH:P"
if "%~1"=="hook" goto hook
if defined program goto installed
if defined fetcher goto fetched
echo hybrid-memory-mcp is not installed, nor uv, which could fetch it: https://docs.astral.sh/uv 1>&2
exit /b 127
:installed
"%program%" %*
exit /b %errorlevel%
:fetched
"%fetcher%" hybrid-memory-mcp==0.1.0 %*
exit /b %errorlevel%
:hook
if defined program goto installedhook
if defined fetcher "%fetcher%" --offline --quiet hybrid-memory-mcp==0.1.0 %* 2>nul
exit /b 0
:installedhook
"%program%" %* 2>nul
exit /b 0
