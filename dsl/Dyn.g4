// The grammar of .dyn files, for ANTLR 4.
//
// It is LL(1), so that the parser decides by one token and a syntax error is found at the first token that cannot be right; that is what
// makes the messages good (frontend/SyntaxErrors.cpp). For this
//  * it accepts a little more than the language: what it lets through (a number where a name must stand before `=`, comparisons that
//    chain, `dims` on a cell ..) is refused in the words of the source when the tree is built (frontend/BuildAst.cpp);
//  * two questions that take a longer look ahead are answered between lexer and parser (frontend/Tokens.cpp), which gives
//      BINDER      to an ID that is followed by `(`, a pattern and `in`,
//      LRECORD     to a `{` that is followed by an ID and `=`.
//
// Names of binders and built-in functions, `axis uniform normal glorot` and the types `f32 int bool index` are ordinary IDs.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
grammar Dyn;

tokens { BINDER, LRECORD }

// The parser is called for the header once, then for one declaration after the other.

header : (MODEL | MODULE) ID SEMI ;

importDecl : IMPORT importPath SEMI ;
importPath : ID (DOT ID)* ;

decl
    : dimDecl
    | constDecl
    | paramDecl
    | dataDecl
    | recordDecl
    | layerDecl
    | funcDecl
    ;

dimDecl : DIM dimItem (COMMA dimItem)* SEMI ;
dimItem : ID (EQ expr)? ;

constDecl : CONST ID (EQ expr | COLON type) SEMI ;

paramDecl : PARAM paramItem (COMMA paramItem)* SEMI ;
paramItem : ID COLON type (EQ expr)? ;

dataDecl     : DATA ID (fields SEMI | LBRACE constructor* RBRACE) ;
constructor  : ID fields? SEMI ;
fields       : LPAREN (field (COMMA field?)*)? RPAREN ;
field        : ID COLON type ;

recordDecl  : RECORD ID dims? LBRACE recordField* RBRACE ;
recordField : ID COLON type SEMI ;

layerDecl   : LAYER ID dims? LBRACE layerMember* RBRACE ;
layerMember : paramDecl | constDecl | funcDecl ;

dims : LBRACKET ID (COMMA ID?)* RBRACKET ;

funcDecl  : (FN | CELL | ENTRY | LOSS) ID dims? args (ARROW type)? (BY expr)? block ;
args      : LPAREN (arg (COMMA arg?)*)? RPAREN ;
arg       : ID (COLON type | IN expr) ;

type
    : LBRACKET type (SEMI expr)? RBRACKET
    | LPAREN type (COMMA type?)* RPAREN
    | ID (DOT ID)? extents*
    ;
extents : LBRACKET expr (COMMA expr?)* RBRACKET ;

block   : LBRACE let* expr RBRACE ;
let     : LET pattern (COLON type)? EQ expr SEMI ;
pattern : ID | UNDERSCORE | LPAREN pattern (COMMA pattern?)* RPAREN ;

expr    : orExpr (DOTDOT orExpr)* ;
orExpr  : andExpr (OROR andExpr)* ;
andExpr : cmpExpr (ANDAND cmpExpr)* ;
cmpExpr : addExpr ((EQEQ | NE | LT | LE | GT | GE) addExpr)* ;
addExpr : mulExpr ((PLUS | MINUS | PLUSPLUS) mulExpr)* ;
mulExpr : unary ((STAR | SLASH | PERCENT | AT) unary)* ;
unary   : (MINUS | NOT) unary | postfix ;

// A binder whose body has no braces swallows everything postfix; only behind braces do trailers belong to the binder.
postfix
    : primary trailer*
    | binderHead (block trailer* | postfix)
    ;

trailer
    : DOT ID
    | LPAREN (callArg (COMMA callArg?)*)? RPAREN
    | LBRACKET sub (COMMA sub?)* RBRACKET
    | LRECORD fieldInit (COMMA fieldInit?)* RBRACE
    ;
callArg   : expr (EQ expr)? ;
sub       : DOTDOT orExpr? | orExpr (DOTDOT orExpr?)? ;
fieldInit : ID EQ expr ;

primary
    : NUMBER
    | TRUE
    | FALSE
    | ID
    | LPAREN expr (COMMA expr?)* RPAREN
    | LBRACKET (expr (COMMA expr?)*)? RBRACKET
    | cond
    | matchExpr
    ;

cond      : IF expr block (ELSE (block | cond))? ;
matchExpr : MATCH expr LBRACE arm+ RBRACE ;
arm       : (ID armFields? | UNDERSCORE) FATARROW (block COMMA? | expr COMMA?) ;
armFields : LPAREN armField (COMMA armField?)* RPAREN ;
armField  : ID (EQ ID)? ;

binderHead  : BINDER LPAREN pattern IN expr (IF expr)? (COMMA binderState?)? RPAREN ;
binderState : pattern EQ expr (WHILE expr)? COMMA? ;

MODEL  : 'model' ;
MODULE : 'module' ;
IMPORT : 'import' ;
DIM    : 'dim' ;
CONST  : 'const' ;
DATA   : 'data' ;
RECORD : 'record' ;
PARAM  : 'param' ;
LAYER  : 'layer' ;
FN     : 'fn' ;
CELL   : 'cell' ;
ENTRY  : 'entry' ;
LOSS   : 'loss' ;
LET    : 'let' ;
IF     : 'if' ;
ELSE   : 'else' ;
MATCH  : 'match' ;
IN     : 'in' ;
BY     : 'by' ;
WHILE  : 'while' ;
TRUE   : 'true' ;
FALSE  : 'false' ;

ARROW    : '->' ;
FATARROW : '=>' ;
DOTDOT   : '..' ;
OROR     : '||' ;
ANDAND   : '&&' ;
EQEQ     : '==' ;
NE       : '!=' ;
LE       : '<=' ;
GE       : '>=' ;
LT       : '<' ;
GT       : '>' ;
EQ       : '=' ;
PLUSPLUS : '++' ;
PLUS     : '+' ;
MINUS    : '-' ;
STAR     : '*' ;
SLASH    : '/' ;
PERCENT  : '%' ;
AT       : '@' ;
NOT      : '!' ;
DOT      : '.' ;
COMMA    : ',' ;
SEMI     : ';' ;
COLON    : ':' ;
LPAREN   : '(' ;
RPAREN   : ')' ;
LBRACKET : '[' ;
RBRACKET : ']' ;
LBRACE   : '{' ;
RBRACE   : '}' ;

UNDERSCORE : '_' ;
ID         : [a-zA-Z_] [a-zA-Z0-9_]* ;
NUMBER     : [0-9]+ ('.' [0-9]+)? ([eE] [+-]? [0-9]+)? ;

SPACE        : [ \t\r\n]+ -> skip ;
LINE_COMMENT : '//' ~[\n]* -> skip ;
COMMENT      : '/*' .*? '*/' -> skip ;

// Never an error of the lexer: frontend/Tokens.cpp names the character.
UNKNOWN : . ;
