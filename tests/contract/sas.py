"""A table of SAS with its catalog of labels, simulated, packed: no library here writes these formats.

60 rows, made with the writer of the ReadStat library (C, 1.1.8): region 1 to 3 in turn, .Z in every tenth row; income 1000.5
plus the row number, then ., ._ and .A in rows 3, 4 and 5 of six; town North, South, Zürich, empty in turn; born a day
each from 1951-10-15 (DATE9.); seen an hour each from 2007-07-14 02:40:00 (DATETIME20.). The catalog labels regions 1 to 4.
"""

from __future__ import annotations

import base64
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

TABLE = (
    r"""c-rlnT}V@57{^~tWi6>$5*AiNq@+ZqnP^Cz#b#=2$y{L~A-b89bxuts3CTVrA`Dk_ArvHGUtkdAMbIY|eL#_cR8UYCT|{)z"""
    r"""MU<3fXU{q6e9pUk$%}}dpUBI3_IuC%K6^ZD<1jYCoe%qKucW3ty>Z;cW<JR6N?T${S;<%ii(|R$x1>%ws<c;HOUhhMhuv$h"""
    r"""bb76^U{es;uX)nUSIuwi6DuNeCJSTns9cm|%eCchw5e;px)!(sa%&qS2!bF8f*=TjAP9mW2!bF8f*=TjAc+4Fv--o>%Vg~+"""
    r"""YsTb9Z|n6mv`f<K`^E}!+A=arTOFt#*6Tr3uh8ofI=>}GebCIWhhx+$V$=zOAP9mW2r+(s9|c7HATv*EzmFwOYyWifYj`8K"""
    r"""pZ?MQLY4&YKIiGjBii=SD&(2e-vsqdu?ZcIJ#R7`$Fp?wcqTfIMt`bN+ju1%(lB+Gwq~n)BG~jbUtcHqp`RldRm1o9hWy(D"""
    r"""ip*F*u2**W8Ea8?%XLafZua|Sk8^$5CO2aqaI8v$HRNv&`22FcpOq@D&HhFu=(B1&9d@s?h{1iqPH)*pXPz4Ti%R4<5>c+N"""
    r"""DkA;Q*4N?~k0(xb0t>%9il8e4@lO&L{h#q^t@h!)TXHL*md0pr=lR=_uLEXPKOeh4U;9Yy>Xs^%*2%66u4B%)YtmeAw^V)i"""
    r"""dMHpIWe351ICtFDGdvsaFl224*EJt!=pF7b<ZT3ZZ~@M6bGXBhw*g%5BAlUxlh+6CODoRM-fjGfp$^=dOq`*U)8ATf-!2<-"""
    r"""&+32wGfv)Z;QCf@`e4Xg1Md4AP9F?;tHBNC;Xd?n@>YTSX%)`U&zXlU;I<Uu3<I40dchqo7MTYRxb2e2JXC<o93u1J2DfuP"""
    r"""&M?Hu>jKxb0l#jqIrC5sZkHQpc*p5)DYzC7rw@j_CE%XeEHV!caMQMm%)>fxPu1WI@nK_L30!L}&X5!~&chmT`|5E9bJ*D5"""
    r"""VsNvzi_F7naQmA?=AjT=n~YyK-aHh5JFp99Sjfqn4{l*A&agOaoQFJcueaeoWN`Xx16OJnnTH&3?{$dGLpHdj2Sw&#Ik=Ax"""
    r""";S714yjkE@9Kjh1IP<U++@Yg5!)i`{Gr_Go#<@-!@@9bh`h>_lSi!CB5xG7r2KU`b+=p^b-gIyqPvZ=3&O9sx_v0Cy!Nciq"""
    r"""8n`>piOj=%a6exZnTJ$x+b)UB!(4DjF5?V!oV*rr_YL6Jt${NSv%yWciZe8E`kM^y;cFt-2Q#?Iw?yW_1aA0_$UG#0n|dE-"""
    r"""*u%-20B+ACoMA6#9^%1Ge}Xd{;PjV)+dC*S4?oXE+{_`7c^Cor!VAuI(vbHXxY@5J&PxykLHs3t0fRr4e*"""
)
CATALOG = (
    r"""c-rmTF-yZh6u|LUTd~<%=+Mp5p<_uv3T_P=OCcI)I=BWE8i?tT7G2$){3_0(xH$F$IJi6YBlJMqq*tq=2oC=r9FKeN4vyod"""
    r"""J5D6^_<D76TPaWOZi-?&S=ZI=Qn@Ztmz-GgsmfB%xBc2d*LC*ozU@2x+B))uJvHC;I%-_ocurpIG-?W}mEOYKZqu|(>(Eqj"""
    r"""N5z&K#^Xx?000000002scaB}Z_kJz?O&*&D00000000000N@Waa(brcbh_Trx<5MwS^j<VGu01r_fx%^UE0IS+>LCts8{pZ"""
    r"""s`fOyCDHIA3gXj6W>W@X6eWwkA?L$!JPN`%&E+LI3pg+U0001he{KejjxN~"""
)


def put(folder: Path, *, catalog: bool = True) -> Path:
    """Unpack the table, and its catalog beside it."""
    path = folder / "people.sas7bdat"
    path.write_bytes(zlib.decompress(base64.b85decode(TABLE)))
    if catalog:
        path.with_suffix(".sas7bcat").write_bytes(zlib.decompress(base64.b85decode(CATALOG)))
    return path
